locals {
  # One row for each principal and policy.
  grants = merge([
    for name, entry in var.access : {
      for policy, namespaces in entry.policies : "${name}/${policy}" => {
        entry      = name
        policy     = policy
        namespaces = namespaces
      }
    }
  ]...)
}

resource "aws_eks_access_entry" "this" {
  for_each = var.access

  cluster_name      = aws_eks_cluster.this.name
  principal_arn     = each.value.principal_arn
  type              = each.value.type
  kubernetes_groups = each.value.kubernetes_groups
}

resource "aws_eks_access_policy_association" "this" {
  for_each = local.grants

  cluster_name  = aws_eks_cluster.this.name
  principal_arn = aws_eks_access_entry.this[each.value.entry].principal_arn
  policy_arn    = "arn:${data.aws_partition.current.partition}:eks::aws:cluster-access-policy/${each.value.policy}"

  access_scope {
    type       = length(each.value.namespaces) > 0 ? "namespace" : "cluster"
    namespaces = each.value.namespaces
  }
}
