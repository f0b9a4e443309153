mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name               = "demo"
  availability_zones = ["us-west-2a", "us-west-2b", "us-west-2c"]
}

run "defaults" {
  command = plan

  assert {
    condition     = [for zone in var.availability_zones : aws_subnet.private[zone].cidr_block] == ["192.168.64.0/18", "192.168.128.0/18", "192.168.192.0/18"]
    error_message = "The private subnets are not the last three quarters of the VPC."
  }
  assert {
    condition     = [for zone in var.availability_zones : aws_subnet.public[zone].cidr_block] == ["192.168.0.0/24", "192.168.1.0/24", "192.168.2.0/24"]
    error_message = "The public subnets are not in the first quarter of the VPC."
  }
  assert {
    condition     = keys(aws_nat_gateway.this) == ["us-west-2a"] && length(aws_route.nat) == 3
    error_message = "Not all zones go out by the first zone's NAT gateway."
  }
  assert {
    condition     = aws_subnet.private["us-west-2a"].tags["karpenter.sh/discovery"] == "demo" && aws_subnet.private["us-west-2a"].tags["kubernetes.io/role/internal-elb"] == "1"
    error_message = "Karpenter or the load balancer controller would not find the private subnets."
  }
  assert {
    condition     = aws_subnet.public["us-west-2b"].tags["kubernetes.io/role/elb"] == "1" && aws_subnet.public["us-west-2b"].map_public_ip_on_launch == null
    error_message = "The public subnets are not for load balancers only."
  }
  assert {
    condition     = toset(keys(output.private_subnets)) == toset(var.availability_zones) && length(output.nat_public_ips) == 1
    error_message = "The outputs do not say what was made."
  }
}

run "a_nat_gateway_in_each_zone" {
  command = plan
  variables { nat_gateways = "per_zone" }

  assert {
    condition     = length(aws_nat_gateway.this) == 3 && length(aws_eip.nat) == 3
    error_message = "There is not one NAT gateway a zone."
  }
}

run "no_nat_gateway" {
  command = plan
  variables { nat_gateways = "none" }

  assert {
    condition     = length(aws_nat_gateway.this) == 0 && length(aws_route.nat) == 0
    error_message = "There is a way out."
  }
}

run "ranges_of_ones_own" {
  command = plan
  variables {
    cidr               = "10.1.0.0/20"
    availability_zones = ["us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"]
    private_cidrs      = ["10.1.4.0/23", "10.1.6.0/23", "10.1.8.0/23", "10.1.10.0/23"]
    public_cidrs       = ["10.1.0.0/26", "10.1.0.64/26", "10.1.0.128/26", "10.1.0.192/26"]
  }

  assert {
    condition     = aws_subnet.private["us-west-2d"].cidr_block == "10.1.10.0/23" && aws_subnet.public["us-west-2d"].cidr_block == "10.1.0.192/26"
    error_message = "The ranges given were not taken."
  }
}
