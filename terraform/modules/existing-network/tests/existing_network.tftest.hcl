mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

override_data {
  target = data.aws_subnet.private["us-west-2a"]
  values = { id = "subnet-a", vpc_id = "vpc-1", availability_zone = "us-west-2a", available_ip_address_count = 200 }
}
override_data {
  target = data.aws_subnet.private["us-west-2b"]
  values = { id = "subnet-b", vpc_id = "vpc-1", availability_zone = "us-west-2b", available_ip_address_count = 200 }
}
override_data {
  target = data.aws_vpc.this
  values = { id = "vpc-1", cidr_block = "10.0.0.0/16", enable_dns_hostnames = true, enable_dns_support = true }
}

variables {
  vpc_id          = "vpc-1"
  private_subnets = { us-west-2a = "subnet-a", us-west-2b = "subnet-b" }
}

run "defaults" {
  command = plan

  assert {
    condition     = output.private_subnets == { us-west-2a = "subnet-a", us-west-2b = "subnet-b" } && output.vpc_cidr == "10.0.0.0/16"
    error_message = "The outputs are not those of the VPC that is there."
  }
  assert {
    condition     = length(output.public_subnets) == 0 && output.private_route_table_ids == tolist(["rtb-0123456789abcdef0"])
    error_message = "The outputs are not those of the VPC that is there."
  }
}

run "public_subnets_too" {
  command = plan
  variables { public_subnets = { us-west-2a = "subnet-p" } }

  override_data {
    target = data.aws_subnet.public["us-west-2a"]
    values = { id = "subnet-p", vpc_id = "vpc-1", availability_zone = "us-west-2a" }
  }

  assert {
    condition     = output.public_subnets["us-west-2a"] == "subnet-p"
    error_message = "The public subnet is not handed on."
  }
}

run "a_name_is_no_vpc" {
  command = plan
  variables { vpc_id = "main" }
  expect_failures = [var.vpc_id]
}

run "one_zone_is_refused" {
  command = plan
  variables { private_subnets = { us-west-2a = "subnet-a" } }
  expect_failures = [var.private_subnets]
}

run "a_vpc_without_dns_is_refused" {
  command = plan

  override_data {
    target = data.aws_vpc.this
    values = { id = "vpc-1", cidr_block = "10.0.0.0/16", enable_dns_hostnames = false, enable_dns_support = true }
  }
  expect_failures = [data.aws_vpc.this]
}

run "a_subnet_of_another_vpc_is_refused" {
  command = plan

  override_data {
    target = data.aws_subnet.private["us-west-2b"]
    values = { id = "subnet-b", vpc_id = "vpc-2", availability_zone = "us-west-2b", available_ip_address_count = 200 }
  }
  expect_failures = [data.aws_subnet.private["us-west-2b"]]
}

run "a_subnet_of_another_zone_is_refused" {
  command = plan

  override_data {
    target = data.aws_subnet.private["us-west-2b"]
    values = { id = "subnet-b", vpc_id = "vpc-1", availability_zone = "us-west-2c", available_ip_address_count = 200 }
  }
  expect_failures = [data.aws_subnet.private["us-west-2b"]]
}

run "a_full_subnet_is_refused" {
  command = plan

  override_data {
    target = data.aws_subnet.private["us-west-2b"]
    values = { id = "subnet-b", vpc_id = "vpc-1", availability_zone = "us-west-2b", available_ip_address_count = 3 }
  }
  expect_failures = [data.aws_subnet.private["us-west-2b"]]
}

run "a_public_subnet_of_another_vpc_or_zone_is_refused" {
  command = plan
  variables { public_subnets = { us-west-2a = "subnet-p" } }

  override_data {
    target = data.aws_subnet.public["us-west-2a"]
    values = { id = "subnet-p", vpc_id = "vpc-2", availability_zone = "us-west-2c" }
  }
  expect_failures = [data.aws_subnet.public["us-west-2a"]]
}
