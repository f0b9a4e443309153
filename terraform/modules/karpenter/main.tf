# The AWS resources of Karpenter: a role for its controller, a role and profile for its nodes, and a queue of interruptions.
# The controller itself is not installed here.

data "aws_partition" "current" {}
data "aws_region" "current" {}
data "aws_caller_identity" "current" {}

locals {
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.name
  account   = data.aws_caller_identity.current.account_id

  node_policies = merge(
    { for policy in ["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"] :
    policy => "arn:${local.partition}:iam::aws:policy/${policy}" },
    var.node_policy_arns,
  )
}

module "controller" {
  source = "../pod-identity"

  cluster_name     = var.cluster_name
  name             = "karpenter"
  namespace        = var.namespace
  service_accounts = [var.service_account]
  statements       = local.controller_statements
}

resource "aws_iam_role" "node" {
  name        = "${var.cluster_name}-karpenter-node"
  description = "Nodes that Karpenter makes for ${var.cluster_name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ec2.amazonaws.com" }
      Action    = ["sts:AssumeRole"]
    }]
  })
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each = local.node_policies

  role       = aws_iam_role.node.name
  policy_arn = each.value
}

resource "aws_iam_instance_profile" "node" {
  name = aws_iam_role.node.name
  role = aws_iam_role.node.name
}

# EKS creates this entry only for the roles of its own node groups.
resource "aws_eks_access_entry" "node" {
  cluster_name  = var.cluster_name
  principal_arn = aws_iam_role.node.arn
  type          = "EC2_LINUX"
}
