output "name" {
  description = "Name of the cluster."
  value       = aws_eks_cluster.this.name
}

output "arn" {
  description = "ARN of the cluster."
  value       = aws_eks_cluster.this.arn
}

output "version" {
  description = "Kubernetes minor version of the control plane."
  value       = aws_eks_cluster.this.version
}

output "endpoint" {
  description = "URL of the API server."
  value       = aws_eks_cluster.this.endpoint
}

output "certificate_authority" {
  description = "Certificate of the API server's authority, PEM in base64."
  value       = aws_eks_cluster.this.certificate_authority[0].data
}

output "service_cidr" {
  description = "IPv4 range of Kubernetes services."
  value       = aws_eks_cluster.this.kubernetes_network_config[0].service_ipv4_cidr
}

output "security_group_id" {
  description = "The group that EKS puts control plane and nodes into."
  value       = aws_eks_cluster.this.vpc_config[0].cluster_security_group_id
}

output "efa_security_group_id" {
  description = "The second group that nodes with EFA interfaces need."
  value       = aws_security_group.efa.id
}

output "kms_key_arn" {
  description = "KMS key that encrypts Kubernetes Secrets."
  value       = local.kms_key_arn
}

output "oidc_issuer" {
  description = "URL of the cluster's OIDC issuer."
  value       = aws_eks_cluster.this.identity[0].oidc[0].issuer
}

output "oidc_provider_arn" {
  description = "ARN of the IAM OIDC provider; null without `oidc_provider`."
  value       = one([for provider in aws_iam_openid_connect_provider.this : provider.arn])
}

# A node that starts before its role has policies fails for minutes.
output "node_role_arn" {
  description = "IAM role of the nodes."
  value       = aws_iam_role.node.arn
  depends_on  = [aws_iam_role_policy_attachment.node]
}

output "node_role_name" {
  description = "Name of that role."
  value       = aws_iam_role.node.name
}
