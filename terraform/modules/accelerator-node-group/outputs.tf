output "name" {
  description = "Name of the node group."
  value       = split(":", aws_eks_node_group.this.id)[1]
}

output "autoscaling_group_names" {
  description = "Auto Scaling groups behind the node group."
  value       = flatten(aws_eks_node_group.this.resources[*].autoscaling_groups[*].name)
}

output "accelerator" {
  description = "`nvidia`, `neuron` or `none`."
  value       = local.accelerator
}

output "efa_interfaces" {
  description = "EFA interfaces of each node."
  value       = length([for interface in local.interfaces : interface if interface.type != "interface"])
}

output "placement_group" {
  description = "Name of the placement group; null without one."
  value       = one([for group in aws_placement_group.this : group.name])
}
