mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name                     = "demo"
  vpc_id                   = "vpc-1"
  subnets                  = { us-west-2a = "subnet-a", us-west-2b = "subnet-b" }
  client_security_group_id = "sg-cluster"
}

run "defaults" {
  command = plan

  assert {
    condition     = aws_efs_file_system.this.encrypted && aws_efs_file_system.this.performance_mode == "generalPurpose" && aws_efs_file_system.this.throughput_mode == "elastic"
    error_message = "It is not encrypted, for general purposes and elastic."
  }
  assert {
    condition     = aws_efs_mount_target.this["us-west-2b"].subnet_id == "subnet-b" && length(aws_efs_mount_target.this) == 2
    error_message = "Not every zone has a mount target."
  }
  assert {
    condition     = aws_vpc_security_group_ingress_rule.nfs.referenced_security_group_id == "sg-cluster" && aws_vpc_security_group_ingress_rule.nfs.from_port == 2049
    error_message = "The nodes cannot mount it."
  }
  assert {
    condition     = aws_efs_backup_policy.this.backup_policy[0].status == "ENABLED" && length(aws_efs_file_system.this.lifecycle_policy) == 0
    error_message = "It is not backed up, or moves files."
  }
  assert {
    condition     = jsondecode(aws_efs_file_system_policy.this.policy).Statement[1].Condition.Bool["aws:SecureTransport"] == "false"
    error_message = "It can be mounted without TLS."
  }
}

run "options" {
  command = plan
  variables {
    performance_mode      = "maxIO"
    throughput            = { mode = "provisioned", mibps = 128 }
    infrequent_after_days = 30
    backup                = false
    kms_key_arn           = "arn:aws:kms:us-west-2:123456789012:key/1234"
  }

  assert {
    condition     = aws_efs_file_system.this.provisioned_throughput_in_mibps == 128 && aws_efs_file_system.this.performance_mode == "maxIO" && aws_efs_file_system.this.kms_key_id == var.kms_key_arn
    error_message = "Mode, throughput or key are others."
  }
  assert {
    condition     = aws_efs_file_system.this.lifecycle_policy[0].transition_to_ia == "AFTER_30_DAYS" && aws_efs_file_system.this.lifecycle_policy[1].transition_to_primary_storage_class == "AFTER_1_ACCESS"
    error_message = "Files do not move, or do not come back."
  }
  assert {
    condition     = aws_efs_backup_policy.this.backup_policy[0].status == "DISABLED"
    error_message = "It is backed up."
  }
}

run "files_move_after_a_day" {
  command = plan
  variables { infrequent_after_days = 1 }

  assert {
    condition     = aws_efs_file_system.this.lifecycle_policy[0].transition_to_ia == "AFTER_1_DAY"
    error_message = "One day is not spelled as EFS wants it."
  }
}

run "an_unknown_performance_mode_is_refused" {
  command = plan
  variables { performance_mode = "fast" }
  expect_failures = [var.performance_mode]
}

run "an_unknown_throughput_mode_is_refused" {
  command = plan
  variables { throughput = { mode = "fast" } }
  expect_failures = [var.throughput]
}

run "provisioned_needs_a_number" {
  command = plan
  variables { throughput = { mode = "provisioned" } }
  expect_failures = [var.throughput]
}

run "max_io_is_not_elastic" {
  command = plan
  variables { performance_mode = "maxIO" }
  expect_failures = [var.throughput]
}

run "days_that_efs_lacks_are_refused" {
  command = plan
  variables { infrequent_after_days = 10 }
  expect_failures = [var.infrequent_after_days]
}
