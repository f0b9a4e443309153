output "vpc_id" {
  description = "ID of the VPC."
  value       = data.aws_vpc.this.id
}

output "vpc_cidr" {
  description = "IPv4 range of the VPC (its first)."
  value       = data.aws_vpc.this.cidr_block
}

output "private_subnets" {
  description = "IDs of the private subnets by zone."
  value       = { for zone, subnet in data.aws_subnet.private : zone => subnet.id }
}

output "public_subnets" {
  description = "IDs of the public subnets by zone."
  value       = { for zone, subnet in data.aws_subnet.public : zone => subnet.id }
}

output "private_route_table_ids" {
  description = "IDs of the route tables of the private subnets."
  value       = data.aws_route_tables.private.ids
}

output "nat_public_ips" {
  description = "Always empty: the NAT gateways of these subnets are unknown."
  value       = []
}
