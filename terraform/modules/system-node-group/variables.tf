variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false
}

variable "name" {
  description = "Name of the group."
  type        = string
  default     = "system"
  nullable    = false
}

variable "kubernetes_version" {
  description = "Kubernetes minor version of the nodes."
  type        = string
  nullable    = false
}

variable "node_role_arn" {
  description = "IAM role of the nodes."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets of the nodes."
  type        = list(string)
  nullable    = false
}

variable "ami_type" {
  description = "Image of the nodes, by its name in EKS."
  type        = string
  default     = "AL2023_x86_64_STANDARD"
  nullable    = false

  validation {
    condition     = contains(["AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD", "BOTTLEROCKET_x86_64", "BOTTLEROCKET_ARM_64"], var.ami_type)
    error_message = "ami_type: ${var.ami_type} is none of AL2023_x86_64_STANDARD, AL2023_ARM_64_STANDARD, BOTTLEROCKET_x86_64, BOTTLEROCKET_ARM_64."
  }
}

variable "release_version" {
  description = "Version of the image, like 1.35.0-20260120; by default the newest when the group is created."
  type        = string
  default     = null
}

variable "instance_types" {
  description = "Types in the order of preference; of one processor architecture."
  type        = list(string)
  default     = ["m7i.xlarge", "m7a.xlarge", "m6i.xlarge"]
  nullable    = false

  validation {
    condition     = length(var.instance_types) > 0
    error_message = "instance_types: empty; name at least one."
  }
}

variable "capacity_type" {
  description = "`on_demand` or `spot`."
  type        = string
  default     = "on_demand"
  nullable    = false

  validation {
    condition     = contains(["on_demand", "spot"], var.capacity_type)
    error_message = "capacity_type: ${var.capacity_type} is neither on_demand nor spot."
  }
}

variable "size" {
  description = "Number of nodes: `desired`, by default `min`, but at least 1. With an autoscaler, `desired` is the initial number."
  type = object({
    min     = optional(number, 2)
    max     = optional(number, 8)
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

variable "volume" {
  description = "Root volume (gp3, encrypted): size in GiB, IOPS, throughput in MiB/s, and a KMS key that the Auto Scaling service role may use (default: aws/ebs)."
  type = object({
    size        = optional(number, 200)
    iops        = optional(number, 3000)
    throughput  = optional(number, 125)
    kms_key_arn = optional(string)
  })
  default  = {}
  nullable = false

  validation {
    condition     = 20 <= var.volume.size && var.volume.size <= 16384
    error_message = "volume.size: ${var.volume.size} GiB; choose 20 to 16384."
  }
  validation {
    condition     = 3000 <= var.volume.iops && var.volume.iops <= 16000 && 125 <= var.volume.throughput && var.volume.throughput <= 1000
    error_message = "volume: ${var.volume.iops} IOPS and ${var.volume.throughput} MiB/s; gp3 has 3000 to 16000 and 125 to 1000."
  }
}

variable "tags" {
  description = "Tags of the nodes that are launched from now on; a change replaces none. `Name` and `mlops.eks/cluster` are the module's."
  type        = map(string)
  default     = {}
  nullable    = false
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

variable "labels" {
  description = "Kubernetes labels of the nodes."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "taints" {
  description = "Taints of the nodes: `effect` is NO_SCHEDULE, NO_EXECUTE or PREFER_NO_SCHEDULE."
  type = list(object({
    key    = string
    value  = optional(string)
    effect = string
  }))
  default  = []
  nullable = false

  validation {
    condition     = alltrue([for taint in var.taints : contains(["NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"], taint.effect)])
    error_message = "taints: ${join(", ", [for taint in var.taints : "${taint.key} (${taint.effect})" if !contains(["NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"], taint.effect)])}: effect is none of NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE."
  }
}

variable "key_pair" {
  description = "EC2 key pair for SSH; by default there is none, and Session Manager gives a shell."
  type        = string
  default     = null
}

variable "metadata_hop_limit" {
  description = "How far from the node its metadata may be read: 1 is the node and host-network pods, 2 every pod."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = contains([1, 2], var.metadata_hop_limit)
    error_message = "metadata_hop_limit: ${var.metadata_hop_limit} is neither 1 nor 2."
  }
}
