variable "repositories" {
  description = "Names of the repositories."
  type        = set(string)
  nullable    = false

  validation {
    condition     = alltrue([for name in var.repositories : can(regex("^[a-z0-9]+([._/-][a-z0-9]+)*$", name))])
    error_message = "repositories: ${join(", ", [for name in var.repositories : name if !can(regex("^[a-z0-9]+([._/-][a-z0-9]+)*$", name))])}: names are lower-case letters, digits and single . _ - / between them."
  }
}

variable "immutable" {
  description = "Whether a pushed tag cannot be changed."
  type        = bool
  default     = true
  nullable    = false
}

variable "keep_untagged_days" {
  description = "Days after which images without a tag are removed."
  type        = number
  default     = 14
  nullable    = false

  validation {
    condition     = var.keep_untagged_days >= 1
    error_message = "keep_untagged_days: ${var.keep_untagged_days}; give at least 1."
  }
}

variable "keep_images" {
  description = "Images to keep in each repository, the newest; null: all."
  type        = number
  default     = null

  validation {
    condition     = var.keep_images == null ? true : var.keep_images >= 1
    error_message = "keep_images: ${coalesce(var.keep_images, 0)}; give at least 1, or null for all."
  }
}

variable "force_delete" {
  description = "Whether a repository may be removed while it holds images."
  type        = bool
  default     = false
  nullable    = false
}

variable "kms_key_arn" {
  description = "KMS key that encrypts images; by default S3's own. Changing it replaces the repositories."
  type        = string
  default     = null
}
