# Add-ons that EKS installs and manages. The stack calls this twice: for add-ons that nodes need, and for those that need nodes.

data "aws_eks_addon_version" "this" {
  for_each = { for name, addon in var.addons : name => addon if try(contains(["latest"], addon.version), true) }

  addon_name         = each.key
  kubernetes_version = var.kubernetes_version
  most_recent        = each.value.version == "latest"
}

resource "aws_eks_addon" "this" {
  for_each = var.addons

  cluster_name                = var.cluster_name
  addon_name                  = each.key
  addon_version               = try(data.aws_eks_addon_version.this[each.key].version, each.value.version)
  configuration_values        = each.value.configuration
  resolve_conflicts_on_create = "OVERWRITE"
  # Keep settings that were changed in the cluster on purpose.
  resolve_conflicts_on_update = "PRESERVE"

  dynamic "pod_identity_association" {
    for_each = each.value.identities

    content {
      service_account = pod_identity_association.key
      role_arn        = pod_identity_association.value
    }
  }
}
