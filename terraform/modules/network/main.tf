# A VPC of one private and one public subnet in each zone. Nodes and file systems live in the private ones.

locals {
  index = { for position, zone in var.availability_zones : zone => position }

  private_cidrs = var.private_cidrs != null ? var.private_cidrs : [
    for position in range(length(var.availability_zones)) : cidrsubnet(var.cidr, 2, position + 1)
  ]
  public_cidrs = var.public_cidrs != null ? var.public_cidrs : [
    for position in range(length(var.availability_zones)) : cidrsubnet(var.cidr, 8, position)
  ]

  nat_zones = {
    single   = slice(var.availability_zones, 0, 1)
    per_zone = var.availability_zones
    none     = []
  }[var.nat_gateways]
  # Which zone's NAT gateway serves a zone.
  nat_of = { for zone in var.availability_zones : zone => var.nat_gateways == "per_zone" ? zone : local.nat_zones[0] if var.nat_gateways != "none" }

  # First address and first address after the end, as numbers: AWS would refuse an overlap only during the apply.
  ranges = [
    for cidr in concat([var.cidr], local.private_cidrs, local.public_cidrs) : {
      cidr  = cidr
      first = sum([for place, octet in split(".", cidrhost(cidr, 0)) : tonumber(octet) * pow(256, 3 - place)])
      size  = pow(2, 32 - tonumber(split("/", cidr)[1]))
    }
  ]
  vpc     = local.ranges[0]
  subnets = slice(local.ranges, 1, length(local.ranges))
  outside = [
    for subnet in local.subnets : subnet.cidr
    if subnet.first < local.vpc.first || subnet.first + subnet.size > local.vpc.first + local.vpc.size
  ]
  overlaps = [
    for pair in setproduct(range(length(local.subnets)), range(length(local.subnets))) :
    "${local.subnets[pair[0]].cidr} and ${local.subnets[pair[1]].cidr}"
    if pair[0] < pair[1] &&
    local.subnets[pair[0]].first < local.subnets[pair[1]].first + local.subnets[pair[1]].size &&
    local.subnets[pair[1]].first < local.subnets[pair[0]].first + local.subnets[pair[0]].size
  ]
}

resource "aws_vpc" "this" {
  cidr_block           = var.cidr
  enable_dns_hostnames = true
  enable_dns_support   = true
  tags                 = { Name = var.name }

  lifecycle {
    precondition {
      condition     = length(local.outside) == 0
      error_message = "private_cidrs, public_cidrs: ${join(", ", local.outside)} not inside the VPC's ${var.cidr}; choose ranges of it."
    }
    precondition {
      condition     = length(local.overlaps) == 0
      error_message = "private_cidrs, public_cidrs: ${join("; ", local.overlaps)} overlap; choose ranges that do not."
    }
  }
}

resource "aws_subnet" "private" {
  for_each = local.index

  vpc_id            = aws_vpc.this.id
  availability_zone = each.key
  cidr_block        = local.private_cidrs[each.value]
  tags = {
    Name                                = "${var.name}-private-${each.key}"
    "kubernetes.io/cluster/${var.name}" = "shared"
    "kubernetes.io/role/internal-elb"   = "1"
    "karpenter.sh/discovery"            = var.name
  }
}

resource "aws_subnet" "public" {
  for_each = local.index

  vpc_id            = aws_vpc.this.id
  availability_zone = each.key
  cidr_block        = local.public_cidrs[each.value]
  tags = {
    Name                                = "${var.name}-public-${each.key}"
    "kubernetes.io/cluster/${var.name}" = "shared"
    "kubernetes.io/role/elb"            = "1"
  }
}

# Nothing uses the VPC's default group. Without rules it also allows nothing by mistake.
resource "aws_default_security_group" "this" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-unused" }
}
