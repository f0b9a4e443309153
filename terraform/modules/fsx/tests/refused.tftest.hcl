mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name                     = "demo-fsx"
  vpc_id                   = "vpc-1"
  subnet_id                = "subnet-a"
  client_security_group_id = "sg-cluster"
}

run "an_unknown_type_is_refused" {
  command = plan
  variables { deployment_type = "SCRATCH_1" }
  expect_failures = [var.deployment_type]
}

run "a_capacity_that_fsx_lacks_is_refused" {
  command = plan
  variables { storage_capacity = 3600 }
  expect_failures = [var.storage_capacity]
}

run "a_throughput_that_fsx_lacks_is_refused" {
  command = plan
  variables {
    deployment_type     = "PERSISTENT_2"
    throughput_per_unit = 100
  }
  expect_failures = [var.throughput_per_unit]
}

run "efa_on_scratch_is_refused" {
  command = plan
  variables {
    storage_capacity = 38400
    efa              = true
  }
  expect_failures = [var.efa]
}

run "efa_on_a_small_one_is_refused" {
  command = plan
  variables {
    deployment_type  = "PERSISTENT_2"
    storage_capacity = 4800
    efa              = true
  }
  expect_failures = [var.efa]
}

run "efa_between_two_steps_is_refused" {
  command = plan
  variables {
    deployment_type     = "PERSISTENT_2"
    storage_capacity    = 7200
    throughput_per_unit = 1000
    efa                 = true
  }
  expect_failures = [var.efa]
}

run "efa_on_an_older_lustre_is_refused" {
  command = plan
  variables {
    deployment_type  = "PERSISTENT_2"
    storage_capacity = 38400
    lustre_version   = "2.12"
    efa              = true
  }
  expect_failures = [var.efa]
}

run "an_unknown_lustre_is_refused" {
  command = plan
  variables { lustre_version = "2.10" }
  expect_failures = [var.lustre_version]
}

run "backups_for_ever_are_refused" {
  command = plan
  variables {
    deployment_type = "PERSISTENT_1"
    backup_days     = 91
  }
  expect_failures = [var.backup_days]
}

run "backups_of_scratch_are_refused" {
  command = plan
  variables { backup_days = 7 }
  expect_failures = [var.backup_days]
}

run "a_key_for_scratch_is_refused" {
  command = plan
  variables { kms_key_arn = "arn:aws:kms:us-west-2:123456789012:key/1234" }
  expect_failures = [var.kms_key_arn]
}

run "nine_associations_are_refused" {
  command = plan
  variables { associations = { for number in range(9) : "a${number}" => { s3_uri = "s3://bucket/${number}", path = "/${number}" } } }
  expect_failures = [var.associations]
}

run "a_bucket_is_no_uri" {
  command = plan
  variables { associations = { data = { s3_uri = "bucket/data" } } }
  expect_failures = [var.associations]
}

run "a_path_begins_at_the_root" {
  command = plan
  variables { associations = { data = { s3_uri = "s3://bucket/data", path = "data" } } }
  expect_failures = [var.associations]
}

run "a_path_twice_is_refused" {
  command = plan
  variables { associations = { a = { s3_uri = "s3://bucket/a", path = "/a" }, b = { s3_uri = "s3://bucket/b", path = "/a/" } } }
  expect_failures = [aws_fsx_lustre_file_system.this]
}

run "a_path_within_another_is_refused" {
  command = plan
  variables { associations = { all = { s3_uri = "s3://bucket/all" }, models = { s3_uri = "s3://bucket/models", path = "/models" } } }
  expect_failures = [aws_fsx_lustre_file_system.this]
}

run "an_unknown_event_is_refused" {
  command = plan
  variables { associations = { data = { s3_uri = "s3://bucket/data", export = ["RENAMED"] } } }
  expect_failures = [var.associations]
}
