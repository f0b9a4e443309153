# EFA traffic is allowed only between members of one group, and only if the group allows itself in both directions.

resource "aws_security_group" "efa" {
  name        = "${var.name}-efa"
  description = "EFA traffic between nodes of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-efa" }
}

resource "aws_vpc_security_group_ingress_rule" "efa" {
  security_group_id            = aws_security_group.efa.id
  description                  = "Everything from its members"
  referenced_security_group_id = aws_security_group.efa.id
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "efa" {
  security_group_id            = aws_security_group.efa.id
  description                  = "Everything to its members"
  referenced_security_group_id = aws_security_group.efa.id
  ip_protocol                  = "-1"
}
