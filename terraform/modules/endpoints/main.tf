# Endpoints by which the VPC reaches AWS without NAT gateways.

data "aws_region" "current" {}

resource "aws_vpc_endpoint" "gateway" {
  for_each = var.gateway_services

  vpc_id            = var.vpc_id
  service_name      = "com.amazonaws.${data.aws_region.current.name}.${each.key}"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = var.route_table_ids
  tags              = { Name = "${var.name}-${each.key}" }
}

resource "aws_security_group" "interface" {
  for_each = toset(length(var.interface_services) > 0 ? ["this"] : [])

  name        = "${var.name}-endpoints"
  description = "HTTPS from the VPC to the interface endpoints"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-endpoints" }
}

resource "aws_vpc_security_group_ingress_rule" "https" {
  for_each = toset(length(var.interface_services) > 0 ? ["this"] : [])

  security_group_id = aws_security_group.interface[each.key].id
  description       = "HTTPS from the VPC"
  cidr_ipv4         = var.vpc_cidr
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_endpoint" "interface" {
  for_each = var.interface_services

  vpc_id              = var.vpc_id
  service_name        = "com.amazonaws.${data.aws_region.current.name}.${each.key}"
  vpc_endpoint_type   = "Interface"
  subnet_ids          = values(var.subnets)
  security_group_ids  = [aws_security_group.interface["this"].id]
  private_dns_enabled = true
  tags                = { Name = "${var.name}-${each.key}" }
}
