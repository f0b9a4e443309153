# An EFS file system, mounted as /efs: code, logs, checkpoints.

resource "aws_efs_file_system" "this" {
  creation_token                  = var.name
  encrypted                       = true
  kms_key_id                      = var.kms_key_arn
  performance_mode                = var.performance_mode
  throughput_mode                 = var.throughput.mode
  provisioned_throughput_in_mibps = var.throughput.mibps
  tags                            = { Name = var.name }

  dynamic "lifecycle_policy" {
    for_each = var.infrequent_after_days == null ? [] : [
      { to = "AFTER_${var.infrequent_after_days}_${var.infrequent_after_days == 1 ? "DAY" : "DAYS"}", back = null },
      { to = null, back = "AFTER_1_ACCESS" },
    ]

    content {
      transition_to_ia                    = lifecycle_policy.value.to
      transition_to_primary_storage_class = lifecycle_policy.value.back
    }
  }
}

resource "aws_efs_backup_policy" "this" {
  file_system_id = aws_efs_file_system.this.id

  backup_policy {
    status = var.backup ? "ENABLED" : "DISABLED"
  }
}

# Mount targets accept every client in the network. This policy allows access only through them, and only encrypted.
resource "aws_efs_file_system_policy" "this" {
  file_system_id = aws_efs_file_system.this.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Principal = { AWS = "*" }
        Action = [
          "elasticfilesystem:ClientMount", "elasticfilesystem:ClientRootAccess", "elasticfilesystem:ClientWrite",
        ]
        Resource  = aws_efs_file_system.this.arn
        Condition = { Bool = { "elasticfilesystem:AccessedViaMountTarget" = "true" } }
      },
      {
        Effect    = "Deny"
        Principal = { AWS = "*" }
        Action    = "*"
        Resource  = aws_efs_file_system.this.arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_security_group" "this" {
  name        = "${var.name}-efs"
  description = "NFS from the nodes to ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-efs" }
}

resource "aws_vpc_security_group_ingress_rule" "nfs" {
  security_group_id            = aws_security_group.this.id
  description                  = "NFS from the nodes"
  referenced_security_group_id = var.client_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = 2049
  to_port                      = 2049
}

resource "aws_efs_mount_target" "this" {
  for_each = var.subnets

  file_system_id  = aws_efs_file_system.this.id
  subnet_id       = each.value
  security_groups = [aws_security_group.this.id]
}
