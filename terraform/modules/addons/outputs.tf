output "cluster_name" {
  description = "Name of the cluster, for what must come after its add-ons."
  value       = var.cluster_name
  depends_on  = [aws_eks_addon.this]
}

output "versions" {
  description = "Installed versions by add-on."
  value       = { for name, addon in aws_eks_addon.this : name => addon.addon_version }
}
