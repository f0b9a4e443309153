# Nodes depend on the add-ons they need and on the endpoints through their arguments. With depends_on Terraform would not ask
# EC2 about instance types before the apply.

# Without an autoscaler the variables set the number of nodes of a group. With one the current number is read here and kept:
# `ignore_changes` cannot depend on a variable, and AWS refuses an ignored number outside of new bounds.
data "aws_autoscaling_groups" "this" {
  count = var.autoscaler == "none" ? 0 : 1

  filter {
    name   = "tag:eks:cluster-name"
    values = [var.name]
  }
}

data "aws_autoscaling_group" "this" {
  for_each = toset(flatten(data.aws_autoscaling_groups.this[*].names))

  name = each.key
}

locals {
  # EKS calls it eks-GROUP-ID; the group's own name ends in 26 characters that Terraform made up.
  autoscaling_group = "^eks-(.+)-[0-9a-f]{26}-"
  autoscaled = {
    for name, group in data.aws_autoscaling_group.this : regex(local.autoscaling_group, name)[0] => group.desired_capacity...
    if can(regex(local.autoscaling_group, name))
  }
  autoscaled_sizes = { for name, sizes in local.autoscaled : name => max(sizes...) }
}

module "system_node_group" {
  source = "../../modules/system-node-group"
  count  = var.auto_mode.enabled ? 0 : 1

  cluster_name       = module.node_addons.cluster_name
  kubernetes_version = module.cluster.version
  node_role_arn      = module.cluster.node_role_arn
  subnet_ids         = values(module.endpoints.subnets)
  ami_type           = var.system_node_group.ami_type
  release_version    = var.system_node_group.release_version
  instance_types     = var.system_node_group.instance_types
  capacity_type      = var.system_node_group.capacity_type
  size               = var.system_node_group.size
  autoscaled_size    = lookup(local.autoscaled_sizes, "system", null)
  update_config      = var.system_node_group.update_config
  tags               = local.tags
  volume             = var.system_node_group.volume
  labels             = var.system_node_group.labels
  taints             = var.system_node_group.taints
  key_pair           = var.system_node_group.key_pair
  metadata_hop_limit = var.system_node_group.metadata_hop_limit
}

module "accelerator_node_groups" {
  source   = "../../modules/accelerator-node-group"
  for_each = var.accelerator_node_groups

  cluster_name              = module.node_addons.cluster_name
  name                      = each.key
  kubernetes_version        = module.cluster.version
  node_role_arn             = module.cluster.node_role_arn
  subnet_ids                = each.value.availability_zone == null ? values(module.endpoints.subnets) : [module.endpoints.subnets[each.value.availability_zone]]
  cluster_security_group_id = module.cluster.security_group_id
  efa_security_group_id     = module.cluster.efa_security_group_id
  instance_type             = each.value.instance_type
  os                        = each.value.os
  release_version           = each.value.release_version
  capacity                  = each.value.capacity
  size                      = each.value.size
  autoscaled_size           = lookup(local.autoscaled_sizes, each.key, null)
  update_config             = each.value.update_config
  tags                      = local.tags
  efa                       = each.value.efa
  placement_group           = each.value.placement_group
  instance_store            = each.value.instance_store
  volume                    = each.value.volume
  labels                    = each.value.labels
  csi_drivers               = local.csi_drivers
  taints                    = each.value.taints
  key_pair                  = each.value.key_pair
}

module "karpenter" {
  source = "../../modules/karpenter"
  count  = var.karpenter.enabled && !var.auto_mode.enabled ? 1 : 0

  cluster_name     = module.cluster.name
  cluster_arn      = module.cluster.arn
  namespace        = var.karpenter.namespace
  service_account  = var.karpenter.service_account
  node_policy_arns = var.karpenter.node_policy_arns
}
