# The EKS add-ons, and the IAM roles of their service accounts. Auto Mode has its own of all these except the drivers of shared
# file systems.

locals {
  drivers = merge(
    var.auto_mode.enabled ? {} : {
      aws-ebs-csi-driver = { service_account = "ebs-csi-controller-sa", policy = "service-role/AmazonEBSCSIDriverPolicy" }
    },
    !var.efs.enabled ? {} : {
      aws-efs-csi-driver = { service_account = "efs-csi-controller-sa", policy = "service-role/AmazonEFSCSIDriverPolicy" }
    },
    length(var.fsx) == 0 ? {} : {
      aws-fsx-csi-driver = { service_account = "fsx-csi-controller-sa", policy = "AmazonFSxFullAccess" }
    },
  )

  # Installed before the nodes: without these, nodes do not become ready and pods have no identity.
  needed_by_nodes = var.auto_mode.enabled ? [] : ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"]
  need_nodes      = concat(var.auto_mode.enabled ? [] : ["coredns", "eks-node-monitoring-agent", "metrics-server"], keys(local.drivers))
  removed         = [for name, addon in var.addons : name if addon == null]
  # Drivers of shared file systems, which all pods mount when they start. The EBS controller attaches its volumes.
  csi_drivers = [
    for kind in ["efs", "fsx"] : kind
    if contains(setsubtract(concat(keys(local.drivers), keys(var.addons)), local.removed), "aws-${kind}-csi-driver")
  ]
}

data "aws_partition" "current" {}

module "driver_identities" {
  source   = "../../modules/pod-identity"
  for_each = local.drivers

  cluster_name     = module.cluster.name
  name             = each.key
  namespace        = "kube-system"
  service_accounts = [each.value.service_account]
  associate        = false
  policy_arns      = { driver = "arn:${data.aws_partition.current.partition}:iam::aws:policy/${each.value.policy}" }
}

module "node_addons" {
  source = "../../modules/addons"

  cluster_name       = module.cluster.name
  kubernetes_version = var.kubernetes_version
  addons             = { for name in setsubtract(local.needed_by_nodes, local.removed) : name => try(var.addons[name], {}) }
}

module "addons" {
  source = "../../modules/addons"

  cluster_name       = try(module.system_node_group[0].cluster_name, module.cluster.name)
  kubernetes_version = var.kubernetes_version
  addons = {
    for name in setsubtract(concat(local.need_nodes, keys(var.addons)), concat(local.needed_by_nodes, local.removed)) : name => {
      version       = try(var.addons[name].version, null)
      configuration = try(var.addons[name].configuration, null)
      identities = try(var.addons[name].identities, null) != null ? var.addons[name].identities : {
        for driver, role in module.driver_identities : local.drivers[driver].service_account => role.role_arn if driver == name
      }
    }
  }
}
