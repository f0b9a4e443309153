output "vpc_id" {
  description = "ID of the VPC."
  value       = aws_vpc.this.id
}

output "vpc_cidr" {
  description = "IPv4 range of the VPC."
  value       = aws_vpc.this.cidr_block
}

# Nodes must not start before they can reach the Internet, nor lose it while they are removed.
output "private_subnets" {
  description = "IDs of the private subnets by zone."
  value       = { for zone, subnet in aws_subnet.private : zone => subnet.id }
  depends_on  = [aws_route.nat, aws_route_table_association.private]
}

output "public_subnets" {
  description = "IDs of the public subnets by zone."
  value       = { for zone, subnet in aws_subnet.public : zone => subnet.id }
  depends_on  = [aws_route.internet, aws_route_table_association.public]
}

output "private_route_table_ids" {
  description = "IDs of the route tables of the private subnets."
  value       = [for table in aws_route_table.private : table.id]
}

output "nat_public_ips" {
  description = "Addresses from which the private subnets reach the Internet."
  value       = [for address in aws_eip.nat : address.public_ip]
}
