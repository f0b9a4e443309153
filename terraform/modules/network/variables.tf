variable "name" {
  description = "Name of the cluster; the VPC and everything in it have names that begin with it."
  type        = string
  nullable    = false
}

variable "availability_zones" {
  description = "Zones to span, in the order of the CIDRs: one private and one public subnet in each."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(distinct(var.availability_zones)) >= 2
    error_message = "availability_zones: [${join(", ", var.availability_zones)}] names fewer than 2 zones; EKS needs two, name another."
  }
  validation {
    condition     = length(distinct(var.availability_zones)) == length(var.availability_zones)
    error_message = "availability_zones: [${join(", ", var.availability_zones)}] names a zone twice; name each once."
  }
  validation {
    condition     = alltrue([for zone in var.availability_zones : can(regex("^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$", zone))])
    error_message = "availability_zones: [${join(", ", var.availability_zones)}] holds something that is no zone; zones are called like us-west-2a."
  }
}

variable "cidr" {
  description = "IPv4 range of the VPC, /16 to /20."
  type        = string
  default     = "192.168.0.0/16"
  nullable    = false

  validation {
    condition     = can(regex("/(1[6-9]|20)$", var.cidr)) && can(cidrhost(var.cidr, 0))
    error_message = "cidr: ${var.cidr} is no IPv4 range between /16 and /20; give one like 192.168.0.0/16."
  }
}

variable "private_cidrs" {
  description = "IPv4 ranges of the private subnets, one a zone; by default the second, third and fourth quarter of the VPC."
  type        = list(string)
  default     = null

  validation {
    condition     = var.private_cidrs == null ? length(var.availability_zones) <= 3 : length(var.private_cidrs) == length(var.availability_zones)
    error_message = "private_cidrs: ${try(length(var.private_cidrs), "3 quarters of the VPC")} for ${length(var.availability_zones)} zones; give one range a zone."
  }
  validation {
    condition     = alltrue([for cidr in coalesce(var.private_cidrs, []) : can(cidrhost(cidr, 0))])
    error_message = "private_cidrs: [${join(", ", coalesce(var.private_cidrs, []))}] holds something that is no IPv4 range."
  }
}

variable "public_cidrs" {
  description = "IPv4 ranges of the public subnets, one a zone; by default 1/256 of the VPC each, from its first quarter."
  type        = list(string)
  default     = null

  validation {
    condition     = var.public_cidrs == null ? true : length(var.public_cidrs) == length(var.availability_zones)
    error_message = "public_cidrs: ${try(length(var.public_cidrs), 0)} for ${length(var.availability_zones)} zones; give one range a zone."
  }
  validation {
    condition     = alltrue([for cidr in coalesce(var.public_cidrs, []) : can(cidrhost(cidr, 0))])
    error_message = "public_cidrs: [${join(", ", coalesce(var.public_cidrs, []))}] holds something that is no IPv4 range."
  }
}

variable "nat_gateways" {
  description = "`single`: one for all zones; `per_zone`: one in each, so that the loss of a zone affects only that zone; `none`: private subnets reach AWS by VPC endpoints only."
  type        = string
  default     = "single"
  nullable    = false

  validation {
    condition     = contains(["single", "per_zone", "none"], var.nat_gateways)
    error_message = "nat_gateways: ${var.nat_gateways} is none of single, per_zone, none."
  }
}
