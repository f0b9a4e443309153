# Clients can mount the file system only with its mount targets.
output "id" {
  description = "ID of the file system."
  value       = aws_efs_file_system.this.id
  depends_on  = [aws_efs_mount_target.this, aws_efs_file_system_policy.this]
}

output "arn" {
  description = "ARN of the file system."
  value       = aws_efs_file_system.this.arn
}

output "dns_name" {
  description = "Name under which the VPC reaches it."
  value       = aws_efs_file_system.this.dns_name
}
