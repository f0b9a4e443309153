mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name       = "demo"
  vpc_id     = "vpc-1"
  subnet_ids = ["subnet-a", "subnet-b"]
}

run "a_name_too_long_is_refused" {
  command = plan
  variables { name = "a-name-that-is-much-too-long-for-the-roles-of-it" }
  expect_failures = [var.name]
}

run "a_version_out_of_support_is_refused" {
  command = plan
  variables { kubernetes_version = "1.33" }
  expect_failures = [var.kubernetes_version]
}

run "an_unknown_support_is_refused" {
  command = plan
  variables { support_type = "none" }
  expect_failures = [var.support_type]
}

run "no_endpoint_is_refused" {
  command = plan
  variables { endpoint = { private = false, public = false } }
  expect_failures = [var.endpoint]
}

run "a_public_endpoint_for_nobody_is_refused" {
  command = plan
  variables { endpoint = { public_cidrs = [] } }
  expect_failures = [var.endpoint]
}

run "a_host_is_no_range" {
  command = plan
  variables { endpoint = { public_cidrs = ["office.example.com"] } }
  expect_failures = [var.endpoint]
}

run "nodes_must_reach_the_endpoint" {
  command = plan
  variables { endpoint = { private = false, public_cidrs = ["203.0.113.0/24"] } }
  expect_failures = [var.endpoint]
}

run "a_service_range_too_small_is_refused" {
  command = plan
  variables { service_cidr = "172.20.0.0/28" }
  expect_failures = [var.service_cidr]
}

run "an_unknown_log_is_refused" {
  command = plan
  variables { logs = { types = ["api", "kubelet"] } }
  expect_failures = [var.logs]
}

run "a_retention_that_cloudwatch_lacks_is_refused" {
  command = plan
  variables { logs = { retention_days = 31 } }
  expect_failures = [var.logs]
}

run "an_alias_is_no_key" {
  command = plan
  variables { kms_key_arn = "alias/eks" }
  expect_failures = [var.kms_key_arn]
}

run "access_for_nobody_is_refused" {
  command = plan
  variables { access = { admins = { principal_arn = "arn:aws:sts::123456789012:assumed-role/admins/me" } } }
  expect_failures = [var.access]
}

run "a_principal_twice_is_refused" {
  command = plan
  variables {
    access = {
      a = { principal_arn = "arn:aws:iam::123456789012:role/admins" }
      b = { principal_arn = "arn:aws:iam::123456789012:role/admins" }
    }
  }
  expect_failures = [var.access]
}

run "an_unknown_type_of_access_is_refused" {
  command = plan
  variables { access = { admins = { principal_arn = "arn:aws:iam::123456789012:role/admins", type = "ADMIN" } } }
  expect_failures = [var.access]
}

run "nodes_take_no_policies" {
  command = plan
  variables { access = { nodes = { principal_arn = "arn:aws:iam::123456789012:role/nodes", type = "EC2_LINUX", policies = { AmazonEKSViewPolicy = [] } } } }
  expect_failures = [var.access]
}

run "an_unknown_pool_is_refused" {
  command = plan
  variables { auto_mode = { enabled = true, node_pools = ["gpu"] } }
  expect_failures = [var.auto_mode]
}
