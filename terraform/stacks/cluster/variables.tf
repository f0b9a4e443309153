# Variables of one module are passed on unchanged: the module has their validation and defaults. The others select modules.

variable "name" {
  description = "Name of the cluster; all resources have names and tags with it."
  type        = string
  nullable    = false
}

variable "region" {
  description = "Region of all resources."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region: ${var.region} is no region; they are called like us-west-2."
  }
}

variable "tags" {
  description = "Tags of all resources, in addition to `mlops.eks/cluster`."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for key in keys(var.tags) : !startswith(lower(key), "aws:") && length(key) <= 128])
    error_message = "tags: [${join(", ", [for key in keys(var.tags) : key if startswith(lower(key), "aws:") || length(key) > 128])}]: keys have at most 128 characters and do not begin with aws:."
  }
}

variable "kubernetes_version" {
  description = "Kubernetes minor version of control plane and nodes."
  type        = string
  default     = "1.35"
  nullable    = false
}

variable "network" {
  description = "A new VPC: `availability_zones`, `cidr`, `private_cidrs`, `public_cidrs`, `nat_gateways` as in modules/network. Or an existing one: `existing`, as in modules/existing-network."
  type = object({
    availability_zones = optional(list(string))
    cidr               = optional(string)
    private_cidrs      = optional(list(string))
    public_cidrs       = optional(list(string))
    nat_gateways       = optional(string)
    existing = optional(object({
      vpc_id          = string
      private_subnets = map(string)
      public_subnets  = optional(map(string))
    }))
  })
  nullable = false

  validation {
    condition     = (var.network.availability_zones == null) != (var.network.existing == null)
    error_message = "network: give either availability_zones, for a VPC to be made, or existing, for one that is there."
  }
  validation {
    condition     = var.network.existing == null || (var.network.cidr == null && var.network.private_cidrs == null && var.network.public_cidrs == null && var.network.nat_gateways == null)
    error_message = "network: existing goes with none of cidr, private_cidrs, public_cidrs, nat_gateways; those shape a VPC to be made."
  }
  validation {
    condition     = alltrue([for zone in try(keys(var.network.existing.private_subnets), coalesce(var.network.availability_zones, [])) : startswith(zone, var.region) && length(zone) == length(var.region) + 1])
    error_message = "network: zones [${join(", ", try(keys(var.network.existing.private_subnets), coalesce(var.network.availability_zones, [])))}] are not all in ${var.region}."
  }
}

variable "vpc_endpoints" {
  description = "VPC endpoints, as in modules/endpoints: `gateway` (by default s3 in a new VPC) and `interface` services."
  type = object({
    gateway   = optional(set(string))
    interface = optional(set(string))
  })
  default  = {}
  nullable = false

  validation {
    condition     = coalesce(var.network.nat_gateways, "single") != "none" || length(setsubtract(["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts"], coalesce(var.vpc_endpoints.interface, []))) == 0
    error_message = "vpc_endpoints.interface: without NAT gateways nodes cannot join unless it holds ${join(", ", setsubtract(["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts"], coalesce(var.vpc_endpoints.interface, [])))} too."
  }
}

variable "endpoint" {
  description = "Who may reach the API server, as in modules/cluster."
  type = object({
    private      = optional(bool)
    public       = optional(bool)
    public_cidrs = optional(list(string))
  })
  default  = {}
  nullable = false
}

variable "control_plane" {
  description = "The other variables of modules/cluster."
  type = object({
    support_type     = optional(string)
    service_cidr     = optional(string)
    kms_key_arn      = optional(string)
    creator_is_admin = optional(bool)
    oidc_provider    = optional(bool)
    zonal_shift      = optional(bool)
    logs = optional(object({
      types          = optional(set(string))
      retention_days = optional(number)
    }), {})
  })
  default  = {}
  nullable = false
}

variable "access" {
  description = "Who may do what in the cluster, by name, as in modules/cluster."
  type = map(object({
    principal_arn     = string
    type              = optional(string)
    kubernetes_groups = optional(list(string))
    policies          = optional(map(list(string)))
  }))
  default  = {}
  nullable = false
}
