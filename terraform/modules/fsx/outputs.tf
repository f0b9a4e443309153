# Without its associations the file system is empty.
output "id" {
  description = "ID of the file system."
  value       = aws_fsx_lustre_file_system.this.id
  depends_on  = [aws_fsx_data_repository_association.this]
}

output "arn" {
  description = "ARN of the file system."
  value       = aws_fsx_lustre_file_system.this.arn
}

output "dns_name" {
  description = "Name under which the VPC reaches it."
  value       = aws_fsx_lustre_file_system.this.dns_name
}

output "mount_name" {
  description = "Name to mount it by."
  value       = aws_fsx_lustre_file_system.this.mount_name
}

output "storage_capacity" {
  description = "Size in GiB."
  value       = aws_fsx_lustre_file_system.this.storage_capacity
}

output "associations" {
  description = "IDs of the associations with S3, by name."
  value       = { for name, association in aws_fsx_data_repository_association.this : name => association.association_id }
}
