output "role_arn" {
  description = "ARN of the role."
  value       = aws_iam_role.this.arn
  depends_on  = [aws_iam_role_policy.this, aws_iam_role_policy_attachment.this]
}

output "role_name" {
  description = "Name of the role."
  value       = aws_iam_role.this.name
}
