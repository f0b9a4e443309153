variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false
}

variable "name" {
  description = "Name of the group."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-zA-Z0-9][a-zA-Z0-9_-]{0,35}$", var.name))
    error_message = "name: ${var.name} is not 1 to 36 letters, digits, hyphens and underscores."
  }
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
  description = "Private subnets of the nodes; one only where the group has EFA, a placement group or a reservation."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.subnet_ids) > 0
    error_message = "subnet_ids: empty; name at least one."
  }
}

variable "cluster_security_group_id" {
  description = "The security group that EKS assigns to nodes."
  type        = string
  nullable    = false
}

variable "efa_security_group_id" {
  description = "The security group that allows EFA traffic."
  type        = string
  nullable    = false
}

variable "instance_type" {
  description = "Type of all nodes of the group. Its accelerators, network cards and EFA determine image, taints and interfaces."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9-]+\\.[a-z0-9-]+$", var.instance_type))
    error_message = "instance_type: ${var.instance_type} is no instance type; they are called like p5.48xlarge."
  }
}

variable "os" {
  description = "`al2023` or `bottlerocket`; the variant of the image follows from the instance type."
  type        = string
  default     = "al2023"
  nullable    = false

  validation {
    condition     = contains(["al2023", "bottlerocket"], var.os)
    error_message = "os: ${var.os} is neither al2023 nor bottlerocket."
  }
}

variable "release_version" {
  description = "Version of the image, like 1.35.0-20260120; by default the newest when the group is created."
  type        = string
  default     = null
}

variable "capacity" {
  description = "How the nodes are bought: `on_demand`, `spot`, `reserved` (an on-demand capacity reservation, by its `reservation_id` or the ARN of its `reservation_group`) or `capacity_block` (by its `reservation_id`)."
  type = object({
    type              = optional(string, "on_demand")
    reservation_id    = optional(string)
    reservation_group = optional(string)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["on_demand", "spot", "reserved", "capacity_block"], var.capacity.type)
    error_message = "capacity.type: ${var.capacity.type} is none of on_demand, spot, reserved, capacity_block."
  }
  validation {
    condition = {
      on_demand      = var.capacity.reservation_id == null && var.capacity.reservation_group == null
      spot           = var.capacity.reservation_id == null && var.capacity.reservation_group == null
      reserved       = (var.capacity.reservation_id == null) != (var.capacity.reservation_group == null)
      capacity_block = var.capacity.reservation_id != null && var.capacity.reservation_group == null
    }[contains(["on_demand", "spot", "reserved", "capacity_block"], var.capacity.type) ? var.capacity.type : "on_demand"]
    error_message = "capacity: ${var.capacity.type} with reservation_id ${coalesce(var.capacity.reservation_id, "null")} and reservation_group ${coalesce(var.capacity.reservation_group, "null")}; reserved takes one of them, capacity_block the ID, the others neither."
  }
  validation {
    condition     = var.capacity.reservation_id == null ? true : startswith(var.capacity.reservation_id, "cr-")
    error_message = "capacity.reservation_id: ${coalesce(var.capacity.reservation_id, "null")} is no capacity reservation's ID; they begin with cr-."
  }
}

variable "efa" {
  description = "EFA: whether to have it, on how many cards (default: all the type has), and whether the cards after the first go without IP (`efa-only`: saves addresses; off: full IP bandwidth)."
  type = object({
    enabled    = optional(bool, false)
    interfaces = optional(number)
    efa_only   = optional(bool, true)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.efa.interfaces == null ? true : var.efa.enabled && var.efa.interfaces >= 1
    error_message = "efa.interfaces: ${coalesce(var.efa.interfaces, 0)} with efa.enabled ${var.efa.enabled}; give at least 1, and enable EFA."
  }
}

variable "placement_group" {
  description = "Whether all nodes are in a cluster placement group. Nodes of a capacity block are close together without one."
  type        = bool
  default     = false
  nullable    = false

  validation {
    condition     = !var.placement_group || var.capacity.type != "capacity_block"
    error_message = "placement_group: true with a capacity block, which EC2 launches into no placement group; its instances stand together without one, set it to false."
  }
}

variable "instance_store" {
  description = "Local NVMe disks: `raid0` makes one volume of them for the container runtime and emptyDir, `none` leaves them unused. Only with al2023."
  type        = string
  default     = "none"
  nullable    = false

  validation {
    condition     = contains(["none", "raid0"], var.instance_store)
    error_message = "instance_store: ${var.instance_store} is neither none nor raid0."
  }
  validation {
    condition     = var.instance_store == "none" || var.os == "al2023"
    error_message = "instance_store: raid0 with os ${var.os}; only al2023 does that by itself, set os to al2023 or instance_store to none."
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
    condition     = 50 <= var.volume.size && var.volume.size <= 16384
    error_message = "volume.size: ${var.volume.size} GiB; images for accelerators alone fill 20, choose 50 to 16384."
  }
  validation {
    condition     = 3000 <= var.volume.iops && var.volume.iops <= 16000 && 125 <= var.volume.throughput && var.volume.throughput <= 1000
    error_message = "volume: ${var.volume.iops} IOPS and ${var.volume.throughput} MiB/s; gp3 has 3000 to 16000 and 125 to 1000."
  }
}

variable "labels" {
  description = "Kubernetes labels of the nodes."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "csi_drivers" {
  description = "CSI drivers of shared file systems that the cluster has, of `efs`, `fsx`: a new node accepts no pod until each of them runs on it. With a driver that the cluster lacks, it never would."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = length(setsubtract(var.csi_drivers, ["efs", "fsx"])) == 0
    error_message = "csi_drivers: ${join(", ", setsubtract(var.csi_drivers, ["efs", "fsx"]))} is none of efs, fsx."
  }
}

variable "taints" {
  description = "Taints beside that of the accelerator: `effect` is NO_SCHEDULE, NO_EXECUTE or PREFER_NO_SCHEDULE."
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
