variable "name" {
  description = "Name of the file system."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "ID of the VPC."
  type        = string
  nullable    = false
}

variable "subnet_id" {
  description = "Subnet of the file system; nodes in other zones pay for the traffic and have more latency."
  type        = string
  nullable    = false
}

variable "client_security_group_id" {
  description = "Security group of the nodes that mount it."
  type        = string
  nullable    = false
}

variable "deployment_type" {
  description = "`SCRATCH_2`: cheapest, not replicated, keep the original data in S3; `PERSISTENT_1`, `PERSISTENT_2`: replicated in its zone. Changing it replaces the file system."
  type        = string
  default     = "SCRATCH_2"
  nullable    = false

  validation {
    condition     = contains(["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"], var.deployment_type)
    error_message = "deployment_type: ${var.deployment_type} is none of SCRATCH_2, PERSISTENT_1, PERSISTENT_2."
  }
}

variable "storage_capacity" {
  description = "Size in GiB: 1200, or a multiple of 2400. It can grow."
  type        = number
  default     = 1200
  nullable    = false

  validation {
    condition     = var.storage_capacity == 1200 || (var.storage_capacity > 0 && var.storage_capacity % 2400 == 0)
    error_message = "storage_capacity: ${var.storage_capacity} GiB; choose 1200 or a multiple of 2400."
  }
}

variable "throughput_per_unit" {
  description = "Throughput of a persistent file system in MB/s for each TiB; by default the lowest of its type."
  type        = number
  default     = null

  validation {
    condition = var.throughput_per_unit == null ? true : contains({
      SCRATCH_2    = []
      PERSISTENT_1 = [50, 100, 200]
      PERSISTENT_2 = [125, 250, 500, 1000]
    }[contains(["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"], var.deployment_type) ? var.deployment_type : "SCRATCH_2"], var.throughput_per_unit)
    error_message = "throughput_per_unit: ${coalesce(var.throughput_per_unit, 0)} with ${var.deployment_type}; PERSISTENT_1 has 50, 100, 200, PERSISTENT_2 125, 250, 500, 1000, SCRATCH_2 no choice."
  }
}

variable "efa" {
  description = "Whether clients with EFA reach it by EFA (and GPUDirect Storage). PERSISTENT_2 with Lustre 2.15 only, and in steps of 38400 GiB at 125 MB/s for each TiB, 19200 at 250, 9600 at 500, 4800 at 1000."
  type        = bool
  default     = false
  nullable    = false

  validation {
    condition     = !var.efa || var.deployment_type == "PERSISTENT_2"
    error_message = "efa: with ${var.deployment_type}; only PERSISTENT_2 has it."
  }
  validation {
    condition     = !var.efa || var.lustre_version != "2.12"
    error_message = "efa: with lustre_version 2.12; it needs 2.15."
  }
  validation {
    condition     = !var.efa || var.storage_capacity * coalesce(var.throughput_per_unit, 125) % (38400 * 125) == 0
    error_message = "efa: ${var.storage_capacity} GiB at ${coalesce(var.throughput_per_unit, 125)} MB/s for each TiB; with EFA it must be a multiple of ${38400 * 125 / coalesce(var.throughput_per_unit, 125)} GiB."
  }
}

variable "compression" {
  description = "Whether files are compressed (LZ4)."
  type        = bool
  default     = true
  nullable    = false
}

variable "lustre_version" {
  description = "Version of Lustre. Changing it replaces the file system."
  type        = string
  default     = "2.15"
  nullable    = false

  validation {
    condition     = contains(["2.12", "2.15"], var.lustre_version)
    error_message = "lustre_version: ${var.lustre_version} is neither 2.12 nor 2.15."
  }
}

variable "backup_days" {
  description = "Days to keep automatic daily backups of a persistent file system that has no associations; 0: none."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = 0 <= var.backup_days && var.backup_days <= 90
    error_message = "backup_days: ${var.backup_days}; choose 0 to 90."
  }
  validation {
    condition     = var.backup_days == 0 || (var.deployment_type != "SCRATCH_2" && length(var.associations) == 0)
    error_message = "backup_days: ${var.backup_days} with ${var.deployment_type} and ${length(var.associations)} associations; FSx backs up only persistent file systems without associations, set it to 0."
  }
}

variable "kms_key_arn" {
  description = "KMS key of a persistent file system; by default aws/fsx. Changing it replaces the file system."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null || var.deployment_type != "SCRATCH_2"
    error_message = "kms_key_arn: SCRATCH_2 is encrypted by FSx's own key only; remove it or choose a persistent type."
  }
}

variable "associations" {
  description = "Prefixes in S3 that are linked to directories of the file system, by a name of your choice. `import` and `export` are the changes that are copied: NEW, CHANGED, DELETED. Deletions are not exported by default, so that S3 keeps files that were deleted by mistake."
  type = map(object({
    s3_uri          = string
    path            = optional(string, "/")
    import          = optional(set(string), ["NEW", "CHANGED", "DELETED"])
    export          = optional(set(string), ["NEW", "CHANGED"])
    import_metadata = optional(bool, true)
    chunk_size      = optional(number, 1024)
  }))
  default  = {}
  nullable = false

  validation {
    condition     = length(var.associations) <= 8
    error_message = "associations: ${length(var.associations)}; a file system has 8 at most."
  }
  validation {
    condition     = alltrue([for association in var.associations : can(regex("^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?$", association.s3_uri))])
    error_message = "associations: ${join(", ", [for name, association in var.associations : "${name} (${association.s3_uri})" if !can(regex("^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?$", association.s3_uri))])}: s3_uri is not like s3://bucket/prefix/."
  }
  validation {
    condition     = alltrue([for association in var.associations : startswith(association.path, "/")])
    error_message = "associations: ${join(", ", [for name, association in var.associations : "${name} (${association.path})" if !startswith(association.path, "/")])}: path does not begin with /."
  }
  validation {
    condition     = length(setsubtract(flatten([for association in var.associations : concat(tolist(association.import), tolist(association.export))]), ["NEW", "CHANGED", "DELETED"])) == 0
    error_message = "associations: import and export are lists of NEW, CHANGED, DELETED; found ${join(", ", setsubtract(flatten([for association in var.associations : concat(tolist(association.import), tolist(association.export))]), ["NEW", "CHANGED", "DELETED"]))}."
  }
}
