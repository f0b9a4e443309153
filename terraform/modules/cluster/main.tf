# The control plane: endpoint, encryption, logs and access. Nothing that runs inside.

data "aws_partition" "current" {}

locals {
  kms_key_arn = var.kms_key_arn != null ? var.kms_key_arn : aws_kms_key.secrets["this"].arn
}

resource "aws_kms_key" "secrets" {
  for_each = toset(var.kms_key_arn == null ? ["this"] : [])

  description             = "Kubernetes Secrets of ${var.name}"
  enable_key_rotation     = true
  deletion_window_in_days = 7
}

resource "aws_kms_alias" "secrets" {
  for_each = toset(var.kms_key_arn == null ? ["this"] : [])

  name          = "alias/eks/${var.name}"
  target_key_id = aws_kms_key.secrets[each.key].key_id
}

# EKS would create the group itself, without retention, and would not delete it.
resource "aws_cloudwatch_log_group" "control_plane" {
  for_each = toset(length(var.logs.types) > 0 ? ["this"] : [])

  name              = "/aws/eks/${var.name}/cluster"
  retention_in_days = var.logs.retention_days
}

resource "aws_eks_cluster" "this" {
  name                      = var.name
  role_arn                  = aws_iam_role.cluster.arn
  version                   = var.kubernetes_version
  enabled_cluster_log_types = var.logs.types
  # Add-ons are EKS add-ons with versions, or belong to Auto Mode.
  bootstrap_self_managed_addons = false

  access_config {
    authentication_mode                         = "API"
    bootstrap_cluster_creator_admin_permissions = var.creator_is_admin
  }

  # The three switches of Auto Mode must be equal, and only an explicit false switches it off.
  compute_config {
    enabled       = var.auto_mode.enabled
    node_pools    = var.auto_mode.enabled ? var.auto_mode.node_pools : null
    node_role_arn = var.auto_mode.enabled && length(var.auto_mode.node_pools) > 0 ? aws_iam_role.node.arn : null
  }

  kubernetes_network_config {
    service_ipv4_cidr = var.service_cidr

    elastic_load_balancing {
      enabled = var.auto_mode.enabled
    }
  }

  storage_config {
    block_storage {
      enabled = var.auto_mode.enabled
    }
  }

  encryption_config {
    resources = ["secrets"]

    provider {
      key_arn = local.kms_key_arn
    }
  }

  upgrade_policy {
    support_type = upper(var.support_type)
  }

  vpc_config {
    subnet_ids              = var.subnet_ids
    endpoint_private_access = var.endpoint.private
    endpoint_public_access  = var.endpoint.public
    public_access_cidrs     = var.endpoint.public ? var.endpoint.public_cidrs : null
  }

  zonal_shift_config {
    enabled = var.zonal_shift
  }

  depends_on = [aws_cloudwatch_log_group.control_plane, aws_iam_role_policy_attachment.cluster]
}

resource "aws_iam_openid_connect_provider" "this" {
  for_each = toset(var.oidc_provider ? ["this"] : [])

  url            = aws_eks_cluster.this.identity[0].oidc[0].issuer
  client_id_list = ["sts.amazonaws.com"]
}
