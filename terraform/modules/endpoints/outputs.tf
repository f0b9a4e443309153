output "subnets" {
  description = "The subnets by zone, for nodes that cannot start before the endpoints can be reached."
  value       = var.subnets
  depends_on  = [aws_vpc_endpoint.gateway, aws_vpc_endpoint.interface]
}

output "endpoint_ids" {
  description = "IDs of the endpoints by service."
  value       = { for service, endpoint in merge(aws_vpc_endpoint.gateway, aws_vpc_endpoint.interface) : service => endpoint.id }
}
