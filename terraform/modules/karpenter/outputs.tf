output "controller_role_arn" {
  description = "IAM role of the controller, by Pod Identity."
  value       = module.controller.role_arn
}

output "namespace" {
  description = "Namespace in which the controller has that role."
  value       = var.namespace
}

output "service_account" {
  description = "Service account that has that role."
  value       = var.service_account
}

output "node_role_name" {
  description = "IAM role for the `role` of EC2NodeClasses."
  value       = aws_iam_role.node.name
  depends_on  = [aws_iam_role_policy_attachment.node, aws_eks_access_entry.node]
}

output "instance_profile" {
  description = "Instance profile with that role, for the `instanceProfile` of EC2NodeClasses."
  value       = aws_iam_instance_profile.node.name
}

output "queue" {
  description = "Name of the queue of interruptions."
  value       = aws_sqs_queue.interruptions.name
}
