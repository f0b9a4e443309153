# An IAM role for the pods of some service accounts, and its associations.

resource "aws_iam_role" "this" {
  name        = "${var.cluster_name}-${var.name}"
  description = "Pods of ${var.namespace}/${join(", ", var.service_accounts)} in ${var.cluster_name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "pods.eks.amazonaws.com" }
      Action    = ["sts:AssumeRole", "sts:TagSession"]
      # Other associations cannot give the role to other pods.
      Condition = {
        StringEquals = {
          "aws:RequestTag/eks-cluster-name"           = var.cluster_name
          "aws:RequestTag/kubernetes-namespace"       = var.namespace
          "aws:RequestTag/kubernetes-service-account" = sort(var.service_accounts)
        }
      }
    }]
  })
}

resource "aws_iam_role_policy_attachment" "this" {
  for_each = var.policy_arns

  role       = aws_iam_role.this.name
  policy_arn = each.value
}

resource "aws_iam_role_policy" "this" {
  for_each = toset(length(var.statements) > 0 ? ["statements"] : [])

  name = "statements"
  role = aws_iam_role.this.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      for statement in var.statements : merge(
        { Effect = "Allow", Action = statement.actions, Resource = statement.resources },
        length(statement.conditions) > 0 ? { Condition = statement.conditions } : {},
      )
    ]
  })
}

resource "aws_eks_pod_identity_association" "this" {
  for_each = var.associate ? var.service_accounts : []

  cluster_name    = var.cluster_name
  namespace       = var.namespace
  service_account = each.key
  role_arn        = aws_iam_role.this.arn
}
