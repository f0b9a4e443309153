# Lustre servers and clients call each other: port 988 in one direction, 1018 to 1023 in both.

locals {
  ports = {
    lnet  = { from = 988, to = 988 }
    reply = { from = 1018, to = 1023 }
  }
  peers = {
    nodes   = var.client_security_group_id
    servers = aws_security_group.this.id
  }
  lustre = { for pair in setproduct(keys(local.ports), ["nodes", "servers"]) : "${pair[0]}-${pair[1]}" => { ports = pair[0], peer = pair[1] } }
}

resource "aws_security_group" "this" {
  name        = "${var.name}-fsx"
  description = "Lustre between ${var.name} and the nodes"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-fsx" }
}

resource "aws_vpc_security_group_ingress_rule" "lustre" {
  for_each = local.lustre

  security_group_id            = aws_security_group.this.id
  description                  = "Lustre from the ${each.value.peer}"
  referenced_security_group_id = local.peers[each.value.peer]
  ip_protocol                  = "tcp"
  from_port                    = local.ports[each.value.ports].from
  to_port                      = local.ports[each.value.ports].to
}

resource "aws_vpc_security_group_egress_rule" "lustre" {
  for_each = local.lustre

  security_group_id            = aws_security_group.this.id
  description                  = "Lustre to the ${each.value.peer}"
  referenced_security_group_id = local.peers[each.value.peer]
  ip_protocol                  = "tcp"
  from_port                    = local.ports[each.value.ports].from
  to_port                      = local.ports[each.value.ports].to
}

# Nodes may open any connection; incoming connections need a rule.
resource "aws_vpc_security_group_ingress_rule" "client" {
  for_each = local.ports

  security_group_id            = var.client_security_group_id
  description                  = "Lustre from ${var.name}"
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "tcp"
  from_port                    = each.value.from
  to_port                      = each.value.to
}

# EFA traffic is allowed only where groups allow each other, and themselves, in both directions. Address ranges have no effect.
resource "aws_vpc_security_group_ingress_rule" "efa" {
  for_each = toset(var.efa ? ["nodes", "servers"] : [])

  security_group_id            = aws_security_group.this.id
  description                  = "EFA from the ${each.key}"
  referenced_security_group_id = local.peers[each.key]
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "efa" {
  for_each = toset(var.efa ? ["nodes", "servers"] : [])

  security_group_id            = aws_security_group.this.id
  description                  = "EFA to the ${each.key}"
  referenced_security_group_id = local.peers[each.key]
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_ingress_rule" "client_efa" {
  for_each = toset(var.efa ? ["this"] : [])

  security_group_id            = var.client_security_group_id
  description                  = "EFA from ${var.name}"
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "client_efa" {
  for_each = toset(var.efa ? ["this"] : [])

  security_group_id            = var.client_security_group_id
  description                  = "EFA to ${var.name}"
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "-1"
}
