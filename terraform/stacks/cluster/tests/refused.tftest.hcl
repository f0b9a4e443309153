mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name    = "demo"
  region  = "us-west-2"
  network = { availability_zones = ["us-west-2a", "us-west-2b"] }
}

run "a_zone_is_no_region" {
  command = plan
  variables { region = "us-west-2a" }
  expect_failures = [var.region]
}

run "tags_of_aws_are_refused" {
  command = plan
  variables { tags = { "aws:owner" = "me" } }
  expect_failures = [var.tags]
}

run "no_network_is_refused" {
  command = plan
  variables { network = {} }
  expect_failures = [var.network]
}

run "an_existing_network_has_its_own_shape" {
  command = plan
  variables { network = { cidr = "10.0.0.0/16", existing = { vpc_id = "vpc-1", private_subnets = { us-west-2a = "subnet-a", us-west-2b = "subnet-b" } } } }
  expect_failures = [var.network]
}

run "a_zone_of_another_region_is_refused" {
  command = plan
  variables { network = { availability_zones = ["us-west-2a", "us-east-1b"] } }
  expect_failures = [var.network]
}

run "without_nat_gateways_endpoints_are_needed" {
  command = plan
  variables {
    network       = { availability_zones = ["us-west-2a", "us-west-2b"], nat_gateways = "none" }
    vpc_endpoints = { interface = ["sts", "ec2"] }
  }
  expect_failures = [var.vpc_endpoints]
}

run "auto_mode_makes_its_own_accelerators" {
  command = plan
  variables {
    auto_mode               = { enabled = true }
    accelerator_node_groups = { g6 = { instance_type = "g6.12xlarge" } }
  }
  expect_failures = [var.auto_mode]
}

run "nodes_in_a_zone_without_subnet_are_refused" {
  command = plan
  variables { accelerator_node_groups = { p5 = { instance_type = "p5.48xlarge", availability_zone = "us-west-2d" } } }
  expect_failures = [var.accelerator_node_groups]
}

run "a_file_system_in_a_zone_without_subnet_is_refused" {
  command = plan
  variables { fsx = { fsx = { availability_zone = "us-west-2d" } } }
  expect_failures = [var.fsx]
}

run "karpenter_scales_no_group" {
  command = plan
  variables { autoscaler = "karpenter" }
  expect_failures = [var.autoscaler]
}
