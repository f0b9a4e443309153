output "cluster_name" {
  description = "Name of the cluster, for what must come after these nodes."
  value       = aws_eks_node_group.this.cluster_name
}

output "name" {
  description = "Name of the node group."
  value       = split(":", aws_eks_node_group.this.id)[1]
}

output "autoscaling_group_names" {
  description = "Auto Scaling groups behind the node group."
  value       = flatten(aws_eks_node_group.this.resources[*].autoscaling_groups[*].name)
}
