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

run "defaults" {
  command = plan

  assert {
    condition     = aws_fsx_lustre_file_system.this.deployment_type == "SCRATCH_2" && aws_fsx_lustre_file_system.this.storage_capacity == 1200 && aws_fsx_lustre_file_system.this.file_system_type_version == "2.15"
    error_message = "It is not a scratch file system of 1200 GiB and Lustre 2.15."
  }
  assert {
    condition     = aws_fsx_lustre_file_system.this.per_unit_storage_throughput == null && length(aws_fsx_lustre_file_system.this.metadata_configuration) == 0 && aws_fsx_lustre_file_system.this.data_compression_type == "LZ4"
    error_message = "FSx refuses throughput and metadata of a scratch file system."
  }
  assert {
    condition     = keys(aws_vpc_security_group_ingress_rule.lustre) == ["lnet-nodes", "lnet-servers", "reply-nodes", "reply-servers"] && aws_vpc_security_group_ingress_rule.lustre["reply-nodes"].from_port == 1018 && aws_vpc_security_group_ingress_rule.lustre["reply-nodes"].to_port == 1023
    error_message = "Lustre's ports are not open both ways."
  }
  assert {
    condition     = aws_vpc_security_group_ingress_rule.lustre["lnet-nodes"].referenced_security_group_id == "sg-cluster" && length(aws_vpc_security_group_ingress_rule.efa) == 0
    error_message = "The nodes cannot mount it, or may do more."
  }
  assert {
    condition     = length(aws_fsx_data_repository_association.this) == 0
    error_message = "It shows a bucket nobody named."
  }
  assert {
    condition     = keys(aws_vpc_security_group_ingress_rule.client) == ["lnet", "reply"] && alltrue([for rule in aws_vpc_security_group_ingress_rule.client : rule.security_group_id == "sg-cluster" && rule.referenced_security_group_id == aws_security_group.this.id])
    error_message = "Its servers cannot call the nodes."
  }
}

run "associations" {
  command = plan
  variables {
    associations = {
      data   = { s3_uri = "s3://bucket/data/", path = "/data" }
      models = { s3_uri = "s3://bucket/models", path = "/models", import = ["NEW"], export = ["NEW", "CHANGED", "DELETED"], import_metadata = false }
    }
  }

  assert {
    condition     = aws_fsx_data_repository_association.this["data"].s3[0].auto_export_policy[0].events == tolist(["CHANGED", "NEW"]) && aws_fsx_data_repository_association.this["data"].file_system_path == "/data"
    error_message = "Deletions would be exported."
  }
  assert {
    condition     = length(aws_fsx_data_repository_association.this["data"].s3[0].auto_import_policy[0].events) == 3 && aws_fsx_data_repository_association.this["data"].batch_import_meta_data_on_create
    error_message = "What is in S3 would not be seen."
  }
  assert {
    condition     = aws_fsx_data_repository_association.this["models"].file_system_path == "/models" && !aws_fsx_data_repository_association.this["models"].batch_import_meta_data_on_create
    error_message = "The options are lost."
  }
}

run "persistent" {
  command = plan
  variables {
    deployment_type  = "PERSISTENT_2"
    storage_capacity = 2400
    backup_days      = 7
    compression      = false
    kms_key_arn      = "arn:aws:kms:us-west-2:123456789012:key/1234"
  }

  assert {
    condition     = aws_fsx_lustre_file_system.this.per_unit_storage_throughput == 125 && aws_fsx_lustre_file_system.this.metadata_configuration[0].mode == "AUTOMATIC" && aws_fsx_lustre_file_system.this.data_compression_type == "NONE"
    error_message = "It is no PERSISTENT_2 at its lowest throughput."
  }
  assert {
    condition     = aws_fsx_lustre_file_system.this.automatic_backup_retention_days == 7 && !aws_fsx_lustre_file_system.this.skip_final_backup && aws_fsx_lustre_file_system.this.kms_key_id == var.kms_key_arn
    error_message = "It is not backed up, or encrypted by another key."
  }
}

run "older_persistent" {
  command = plan
  variables {
    deployment_type = "PERSISTENT_1"
    lustre_version  = "2.12"
  }

  assert {
    condition     = aws_fsx_lustre_file_system.this.per_unit_storage_throughput == 50 && length(aws_fsx_lustre_file_system.this.metadata_configuration) == 0 && aws_fsx_lustre_file_system.this.file_system_type_version == "2.12"
    error_message = "It is no PERSISTENT_1 at its lowest throughput."
  }
}

run "efa" {
  command = plan
  variables {
    deployment_type     = "PERSISTENT_2"
    storage_capacity    = 4800
    throughput_per_unit = 1000
    efa                 = true
  }

  assert {
    condition     = aws_fsx_lustre_file_system.this.efa_enabled && keys(aws_vpc_security_group_egress_rule.efa) == ["nodes", "servers"] && aws_vpc_security_group_ingress_rule.efa["servers"].ip_protocol == "-1"
    error_message = "EFA's traffic would not be let through."
  }
  assert {
    condition     = aws_vpc_security_group_ingress_rule.client_efa["this"].security_group_id == "sg-cluster" && aws_vpc_security_group_egress_rule.client_efa["this"].referenced_security_group_id == aws_security_group.this.id
    error_message = "The nodes would not let EFA's traffic through."
  }
}

run "efa_in_two_steps" {
  command = plan
  variables {
    deployment_type     = "PERSISTENT_2"
    storage_capacity    = 9600
    throughput_per_unit = 1000
    efa                 = true
  }

  assert {
    condition     = aws_fsx_lustre_file_system.this.storage_capacity == 9600
    error_message = "It cannot be larger than the least."
  }
}

run "persistent_2_of_an_older_lustre" {
  command = plan
  variables {
    deployment_type = "PERSISTENT_2"
    lustre_version  = "2.12"
  }

  assert {
    condition     = length(aws_fsx_lustre_file_system.this.metadata_configuration) == 0
    error_message = "FSx refuses metadata of Lustre 2.12."
  }
}
