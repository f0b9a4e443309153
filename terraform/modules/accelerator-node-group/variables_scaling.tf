# The number of nodes, and how it changes.

variable "size" {
  description = "Number of nodes: `desired`, by default `min`. With an autoscaler, `desired` is the initial number."
  type = object({
    min     = optional(number, 0)
    max     = optional(number, 32)
    desired = optional(number)
  })
  default  = {}
  nullable = false

  validation {
    condition     = 0 <= var.size.min && var.size.min <= var.size.max && var.size.max > 0
    error_message = "size: min ${var.size.min}, max ${var.size.max}: it needs 0 <= min <= max and 0 < max."
  }
  validation {
    condition     = var.size.desired == null ? true : var.size.min <= var.size.desired && var.size.desired <= var.size.max
    error_message = "size.desired: ${coalesce(var.size.desired, -1)} is not between min ${var.size.min} and max ${var.size.max}."
  }
}

variable "autoscaled_size" {
  description = "Number of nodes that an autoscaler gave the group, kept as far as `size` allows; null where `size` decides."
  type        = number
  default     = null
}

variable "update_config" {
  description = "How many nodes are replaced at once where a change needs new ones: `max_unavailable` of them, 1 by default, or `max_unavailable_percentage`."
  type = object({
    max_unavailable            = optional(number)
    max_unavailable_percentage = optional(number)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.update_config.max_unavailable == null || var.update_config.max_unavailable_percentage == null
    error_message = "update_config: max_unavailable ${coalesce(var.update_config.max_unavailable, 0)} and max_unavailable_percentage ${coalesce(var.update_config.max_unavailable_percentage, 0)}; give one of them."
  }
  validation {
    condition     = alltrue([for number in [var.update_config.max_unavailable, var.update_config.max_unavailable_percentage] : number == null ? true : 1 <= number && number <= 100])
    error_message = "update_config: max_unavailable ${coalesce(var.update_config.max_unavailable, 1)}, max_unavailable_percentage ${coalesce(var.update_config.max_unavailable_percentage, 1)}: EKS takes 1 to 100."
  }
}

variable "tags" {
  description = "Tags of the nodes that are launched from now on; a change replaces none. `Name` and `mlops.eks/cluster` are the module's."
  type        = map(string)
  default     = {}
  nullable    = false
}
