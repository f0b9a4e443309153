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

variable "subnets" {
  description = "Subnets of the mount targets by zone; a zone without one uses another zone's and pays for the traffic."
  type        = map(string)
  nullable    = false
}

variable "client_security_group_id" {
  description = "Security group of the nodes that mount it."
  type        = string
  nullable    = false
}

variable "performance_mode" {
  description = "`generalPurpose` or `maxIO` (older; more latency, never with elastic throughput). Changing it replaces the file system."
  type        = string
  default     = "generalPurpose"
  nullable    = false

  validation {
    condition     = contains(["generalPurpose", "maxIO"], var.performance_mode)
    error_message = "performance_mode: ${var.performance_mode} is neither generalPurpose nor maxIO."
  }
}

variable "throughput" {
  description = "`mode` is `elastic` (paid by the byte), `bursting` (grows with what is stored) or `provisioned` (with `mibps`)."
  type = object({
    mode  = optional(string, "elastic")
    mibps = optional(number)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["elastic", "bursting", "provisioned"], var.throughput.mode)
    error_message = "throughput.mode: ${var.throughput.mode} is none of elastic, bursting, provisioned."
  }
  validation {
    condition     = (var.throughput.mode == "provisioned") == (var.throughput.mibps != null)
    error_message = "throughput: mode ${var.throughput.mode} with mibps ${coalesce(var.throughput.mibps, "null")}; provisioned needs it, the others take none."
  }
  validation {
    condition     = var.performance_mode == "generalPurpose" || var.throughput.mode != "elastic"
    error_message = "throughput.mode: elastic does not go with performance_mode ${var.performance_mode}; choose bursting or provisioned, or generalPurpose."
  }
}

variable "infrequent_after_days" {
  description = "Days without access after which a file moves to cheaper, slower storage, until it is read again; null: never."
  type        = number
  default     = null

  validation {
    condition     = var.infrequent_after_days == null ? true : contains([1, 7, 14, 30, 60, 90, 180, 270, 365], var.infrequent_after_days)
    error_message = "infrequent_after_days: ${coalesce(var.infrequent_after_days, 0)} is none of 1, 7, 14, 30, 60, 90, 180, 270, 365."
  }
}

variable "backup" {
  description = "Whether AWS Backup keeps daily copies for 35 days."
  type        = bool
  default     = true
  nullable    = false
}

variable "kms_key_arn" {
  description = "KMS key that encrypts the file system; by default aws/elasticfilesystem. Changing it replaces the file system."
  type        = string
  default     = null
}
