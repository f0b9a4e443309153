mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name            = "demo"
  vpc_id          = "vpc-1"
  vpc_cidr        = "10.0.0.0/16"
  subnets         = { us-west-2a = "subnet-a", us-west-2b = "subnet-b" }
  route_table_ids = ["rtb-a", "rtb-b"]
}

run "defaults" {
  command = plan

  assert {
    condition     = aws_vpc_endpoint.gateway["s3"].service_name == "com.amazonaws.us-west-2.s3" && toset(aws_vpc_endpoint.gateway["s3"].route_table_ids) == toset(var.route_table_ids)
    error_message = "S3 is not reached by a route."
  }
  assert {
    condition     = length(aws_vpc_endpoint.interface) == 0 && length(aws_security_group.interface) == 0
    error_message = "Something costs money."
  }
}

run "interfaces" {
  command = plan
  variables { interface_services = ["ecr.api", "sts"] }

  assert {
    condition     = aws_vpc_endpoint.interface["ecr.api"].private_dns_enabled && aws_vpc_endpoint.interface["ecr.api"].service_name == "com.amazonaws.us-west-2.ecr.api"
    error_message = "ECR's own name does not lead to the endpoint."
  }
  assert {
    condition     = aws_vpc_security_group_ingress_rule.https["this"].cidr_ipv4 == "10.0.0.0/16" && aws_vpc_security_group_ingress_rule.https["this"].from_port == 443
    error_message = "The VPC may not call the endpoints."
  }
  assert {
    condition     = keys(output.endpoint_ids) == ["ecr.api", "s3", "sts"]
    error_message = "Not all endpoints are handed on."
  }
}

run "no_gateway" {
  command = plan
  variables { gateway_services = [] }

  assert {
    condition     = length(aws_vpc_endpoint.gateway) == 0
    error_message = "There is a gateway endpoint."
  }
}

run "a_gateway_to_ecr_is_refused" {
  command = plan
  variables { gateway_services = ["s3", "ecr.api"] }
  expect_failures = [var.gateway_services]
}

run "a_full_name_is_refused" {
  command = plan
  variables { interface_services = ["com.amazonaws.us-west-2.sts"] }
  expect_failures = [var.interface_services]
}
