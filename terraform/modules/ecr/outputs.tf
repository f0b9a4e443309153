output "repository_urls" {
  description = "URLs to push to and pull from, by name."
  value       = { for name, repository in aws_ecr_repository.this : name => repository.repository_url }
}
