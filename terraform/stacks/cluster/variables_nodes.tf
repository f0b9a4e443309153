variable "auto_mode" {
  description = "EKS Auto Mode, as in modules/cluster. The stack then has no node groups, Karpenter or add-ons, because EKS has its own."
  type = object({
    enabled    = optional(bool, false)
    node_pools = optional(set(string))
  })
  default  = {}
  nullable = false

  validation {
    condition     = !var.auto_mode.enabled || length(var.accelerator_node_groups) == 0
    error_message = "auto_mode: with accelerator_node_groups [${join(", ", keys(var.accelerator_node_groups))}]; with Auto Mode pools are made in the cluster, remove them."
  }
}

variable "addons" {
  description = "EKS add-ons beside, or instead of, those of the stack, as in modules/addons; null removes one of the stack's."
  type = map(object({
    version       = optional(string)
    configuration = optional(string)
    identities    = optional(map(string))
  }))
  default  = {}
  nullable = false
}

variable "autoscaler" {
  description = "What sets the number of nodes of the groups: `none` (their `size.desired`; Karpenter changes no group) or `cluster-autoscaler` (installed separately; it finds the groups by EKS's tags)."
  type        = string
  default     = "none"
  nullable    = false

  validation {
    condition     = contains(["none", "cluster-autoscaler"], var.autoscaler)
    error_message = "autoscaler: ${var.autoscaler} is neither none nor cluster-autoscaler."
  }
}

variable "system_node_group" {
  description = "Nodes for cluster services, as in modules/system-node-group."
  type = object({
    ami_type           = optional(string)
    release_version    = optional(string)
    instance_types     = optional(list(string))
    capacity_type      = optional(string)
    labels             = optional(map(string))
    key_pair           = optional(string)
    metadata_hop_limit = optional(number)
    size = optional(object({
      min     = optional(number)
      max     = optional(number)
      desired = optional(number)
    }), {})
    update_config = optional(object({
      max_unavailable            = optional(number)
      max_unavailable_percentage = optional(number)
    }), {})
    volume = optional(object({
      size        = optional(number)
      iops        = optional(number)
      throughput  = optional(number)
      kms_key_arn = optional(string)
    }), {})
    taints = optional(list(object({
      key    = string
      value  = optional(string)
      effect = string
    })))
  })
  default  = {}
  nullable = false
}

variable "accelerator_node_groups" {
  description = "Node groups for training and inference by name, as in modules/accelerator-node-group. `availability_zone` is needed with EFA, a placement group or a reservation; else a group spans all zones."
  type = map(object({
    instance_type     = string
    availability_zone = optional(string)
    os                = optional(string)
    release_version   = optional(string)
    labels            = optional(map(string))
    key_pair          = optional(string)
    placement_group   = optional(bool)
    instance_store    = optional(string)
    capacity = optional(object({
      type              = optional(string)
      reservation_id    = optional(string)
      reservation_group = optional(string)
    }), {})
    size = optional(object({
      min     = optional(number)
      max     = optional(number)
      desired = optional(number)
    }), {})
    update_config = optional(object({
      max_unavailable            = optional(number)
      max_unavailable_percentage = optional(number)
    }), {})
    efa = optional(object({
      enabled    = optional(bool)
      interfaces = optional(number)
      efa_only   = optional(bool)
    }), {})
    volume = optional(object({
      size        = optional(number)
      iops        = optional(number)
      throughput  = optional(number)
      kms_key_arn = optional(string)
    }), {})
    taints = optional(list(object({
      key    = string
      value  = optional(string)
      effect = string
    })))
  }))
  default  = {}
  nullable = false

  validation {
    condition = alltrue([
      for group in var.accelerator_node_groups : group.availability_zone == null ? true : contains(local.zones, group.availability_zone)
    ])
    error_message = "accelerator_node_groups: ${join(", ", [for name, group in var.accelerator_node_groups : "${name} (${coalesce(group.availability_zone, "null")})" if group.availability_zone == null ? false : !contains(local.zones, group.availability_zone)])}: the network has no subnet there, only in [${join(", ", local.zones)}]."
  }
}

variable "karpenter" {
  description = "Whether to create the AWS resources of Karpenter, as in modules/karpenter."
  type = object({
    enabled          = optional(bool, true)
    namespace        = optional(string)
    service_account  = optional(string)
    node_policy_arns = optional(map(string))
  })
  default  = {}
  nullable = false
}
