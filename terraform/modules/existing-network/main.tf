# An existing VPC, checked for the requirements of EKS. It has the outputs of ../network and creates nothing.

data "aws_vpc" "this" {
  id = var.vpc_id

  lifecycle {
    postcondition {
      condition     = self.enable_dns_hostnames && self.enable_dns_support
      error_message = "vpc_id: ${var.vpc_id} has DNS host names or DNS support off; switch both on, EKS and EFS need them."
    }
  }
}

data "aws_subnet" "private" {
  for_each = var.private_subnets

  id = each.value

  lifecycle {
    postcondition {
      condition     = self.vpc_id == var.vpc_id
      error_message = "private_subnets: ${each.value} is in ${self.vpc_id}, not in ${var.vpc_id}."
    }
    postcondition {
      condition     = self.availability_zone == each.key
      error_message = "private_subnets: ${each.value} is in ${self.availability_zone}, not in ${each.key}."
    }
    postcondition {
      condition     = self.available_ip_address_count >= 16
      error_message = "private_subnets: ${each.value} has ${self.available_ip_address_count} addresses left; EKS asks for 16."
    }
  }
}

data "aws_subnet" "public" {
  for_each = var.public_subnets

  id = each.value

  lifecycle {
    postcondition {
      condition     = self.vpc_id == var.vpc_id
      error_message = "public_subnets: ${each.value} is in ${self.vpc_id}, not in ${var.vpc_id}."
    }
    postcondition {
      condition     = self.availability_zone == each.key
      error_message = "public_subnets: ${each.value} is in ${self.availability_zone}, not in ${each.key}."
    }
  }
}

data "aws_route_tables" "private" {
  vpc_id = var.vpc_id

  filter {
    name   = "association.subnet-id"
    values = values(var.private_subnets)
  }
}
