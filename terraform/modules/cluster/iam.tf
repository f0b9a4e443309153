locals {
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy"

  cluster_policies = var.auto_mode.enabled ? [
    "AmazonEKSClusterPolicy", "AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy",
  ] : ["AmazonEKSClusterPolicy"]

  node_policies = var.auto_mode.enabled ? [
    "AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly",
    ] : [
    "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore",
  ]
}

resource "aws_iam_role" "cluster" {
  name        = "${var.name}-cluster"
  description = "Control plane of ${var.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "eks.amazonaws.com" }
      # Auto Mode tags its resources through the session.
      Action = var.auto_mode.enabled ? ["sts:AssumeRole", "sts:TagSession"] : ["sts:AssumeRole"]
    }]
  })
}

resource "aws_iam_role_policy_attachment" "cluster" {
  for_each = toset(local.cluster_policies)

  role       = aws_iam_role.cluster.name
  policy_arn = "${local.policy_arn}/${each.key}"
}

# The permissions of a node itself; pods get theirs by Pod Identity.
resource "aws_iam_role" "node" {
  name        = "${var.name}-node"
  description = "Nodes of ${var.name}"
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
  for_each = toset(local.node_policies)

  role       = aws_iam_role.node.name
  policy_arn = "${local.policy_arn}/${each.key}"
}
