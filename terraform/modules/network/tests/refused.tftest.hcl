mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name               = "demo"
  availability_zones = ["us-west-2a", "us-west-2b", "us-west-2c"]
}

run "one_zone_is_refused" {
  command = plan
  variables { availability_zones = ["us-west-2a"] }
  expect_failures = [var.availability_zones]
}

run "a_zone_twice_is_refused" {
  command = plan
  variables { availability_zones = ["us-west-2a", "us-west-2b", "us-west-2a"] }
  expect_failures = [var.availability_zones]
}

run "a_region_is_no_zone" {
  command = plan
  variables { availability_zones = ["us-west-2a", "us-west-2"] }
  expect_failures = [var.availability_zones]
}

run "a_range_too_small_is_refused" {
  command = plan
  variables { cidr = "10.0.0.0/24" }
  expect_failures = [var.cidr]
}

run "four_zones_need_ranges" {
  command = plan
  variables { availability_zones = ["us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"] }
  expect_failures = [var.private_cidrs]
}

run "too_few_private_ranges_are_refused" {
  command = plan
  variables { private_cidrs = ["192.168.64.0/18"] }
  expect_failures = [var.private_cidrs]
}

run "a_private_range_that_is_none_is_refused" {
  command = plan
  variables { private_cidrs = ["192.168.64.0/18", "192.168.128.0/18", "192.168.192.0"] }
  expect_failures = [var.private_cidrs]
}

run "too_few_public_ranges_are_refused" {
  command = plan
  variables { public_cidrs = ["192.168.0.0/24"] }
  expect_failures = [var.public_cidrs]
}

run "a_public_range_that_is_none_is_refused" {
  command = plan
  variables { public_cidrs = ["192.168.0.0/24", "192.168.1.0/24", "public"] }
  expect_failures = [var.public_cidrs]
}

run "an_unknown_number_of_nat_gateways_is_refused" {
  command = plan
  variables { nat_gateways = "two" }
  expect_failures = [var.nat_gateways]
}

run "a_range_outside_of_the_vpc_is_refused" {
  command = plan
  variables { private_cidrs = ["192.168.64.0/18", "192.168.128.0/18", "10.0.0.0/18"] }
  expect_failures = [aws_vpc.this]
}

run "ranges_that_overlap_are_refused" {
  command = plan
  variables { public_cidrs = ["192.168.0.0/24", "192.168.1.0/24", "192.168.64.0/24"] }
  expect_failures = [aws_vpc.this]
}
