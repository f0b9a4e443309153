# An FSx for Lustre file system, mounted as /fsx: data and models, linked to S3.

locals {
  persistent = var.deployment_type != "SCRATCH_2"
  # Each directory with a trailing slash, so that /a is not a prefix of /ab.
  paths = { for name, association in var.associations : name => "${trimsuffix(association.path, "/")}/" }
  overlaps = distinct([
    for pair in setproduct(keys(local.paths), keys(local.paths)) : join(" and ", sort([for name in pair : "${name} (${var.associations[name].path})"]))
    if pair[0] != pair[1] && startswith(local.paths[pair[1]], local.paths[pair[0]])
  ])
  throughput = local.persistent ? coalesce(var.throughput_per_unit, { PERSISTENT_1 = 50, PERSISTENT_2 = 125 }[var.deployment_type]) : null
}

resource "aws_fsx_lustre_file_system" "this" {
  deployment_type                 = var.deployment_type
  storage_type                    = "SSD"
  storage_capacity                = var.storage_capacity
  per_unit_storage_throughput     = local.throughput
  file_system_type_version        = var.lustre_version
  data_compression_type           = var.compression ? "LZ4" : "NONE"
  subnet_ids                      = [var.subnet_id]
  security_group_ids              = [aws_security_group.this.id]
  kms_key_id                      = var.kms_key_arn
  efa_enabled                     = var.efa ? true : null
  automatic_backup_retention_days = local.persistent ? var.backup_days : null
  skip_final_backup               = var.backup_days == 0
  copy_tags_to_backups            = var.backup_days > 0 ? true : null
  tags                            = { Name = var.name }

  # EFA needs configurable metadata servers, which Lustre 2.12 does not have.
  dynamic "metadata_configuration" {
    for_each = toset(var.deployment_type == "PERSISTENT_2" && var.lustre_version != "2.12" ? ["AUTOMATIC"] : [])

    content {
      mode = metadata_configuration.key
    }
  }

  log_configuration {
    level       = "WARN_ERROR"
    destination = aws_cloudwatch_log_group.this.arn
  }

  timeouts {
    create = "60m"
    delete = "60m"
  }

  lifecycle {
    # FSx does not return them, so an imported file system would be replaced.
    ignore_changes = [security_group_ids]

    precondition {
      condition     = length(local.overlaps) == 0
      error_message = "associations: ${join("; ", local.overlaps)}: one path is within another; give each a directory of its own, or have one for /."
    }
  }

  depends_on = [
    aws_vpc_security_group_ingress_rule.lustre, aws_vpc_security_group_egress_rule.lustre,
    aws_vpc_security_group_ingress_rule.efa, aws_vpc_security_group_egress_rule.efa,
  ]
}

# FSx writes only to groups with this prefix.
resource "aws_cloudwatch_log_group" "this" {
  name              = "/aws/fsx/${var.name}"
  retention_in_days = 30
}

resource "aws_fsx_data_repository_association" "this" {
  for_each = var.associations

  file_system_id                   = aws_fsx_lustre_file_system.this.id
  file_system_path                 = each.value.path
  data_repository_path             = each.value.s3_uri
  batch_import_meta_data_on_create = each.value.import_metadata
  imported_file_chunk_size         = each.value.chunk_size
  delete_data_in_filesystem        = false
  tags                             = { Name = "${var.name}-${each.key}" }

  s3 {
    auto_import_policy {
      events = each.value.import
    }
    auto_export_policy {
      events = each.value.export
    }
  }

  timeouts {
    create = "60m"
    delete = "60m"
  }
}
