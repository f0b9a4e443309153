variable "efs" {
  description = "The file system /efs, as in modules/efs."
  type = object({
    enabled               = optional(bool, true)
    performance_mode      = optional(string)
    infrequent_after_days = optional(number)
    backup                = optional(bool)
    kms_key_arn           = optional(string)
    throughput = optional(object({
      mode  = optional(string)
      mibps = optional(number)
    }), {})
  })
  default  = {}
  nullable = false
}

variable "fsx" {
  description = "FSx for Lustre file systems by name, as in modules/fsx; the one named `fsx` is mounted as /fsx. `availability_zone` defaults to the network's first."
  type = map(object({
    availability_zone   = optional(string)
    deployment_type     = optional(string)
    storage_capacity    = optional(number)
    throughput_per_unit = optional(number)
    efa                 = optional(bool)
    compression         = optional(bool)
    lustre_version      = optional(string)
    backup_days         = optional(number)
    kms_key_arn         = optional(string)
    associations = optional(map(object({
      s3_uri          = string
      path            = optional(string)
      import          = optional(set(string))
      export          = optional(set(string))
      import_metadata = optional(bool)
      chunk_size      = optional(number)
    })))
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for file_system in var.fsx : file_system.availability_zone == null ? true : contains(local.zones, file_system.availability_zone)])
    error_message = "fsx: ${join(", ", [for name, file_system in var.fsx : "${name} (${coalesce(file_system.availability_zone, "null")})" if file_system.availability_zone == null ? false : !contains(local.zones, file_system.availability_zone)])}: the network has no subnet there, only in [${join(", ", local.zones)}]."
  }
}

variable "ecr" {
  description = "Image repositories, as in modules/ecr."
  type = object({
    repositories       = optional(set(string), [])
    immutable          = optional(bool)
    keep_untagged_days = optional(number)
    keep_images        = optional(number)
    force_delete       = optional(bool)
    kms_key_arn        = optional(string)
  })
  default  = {}
  nullable = false
}

variable "pod_identities" {
  description = "IAM roles of your workloads by name, as in modules/pod-identity. `buckets` is short for the S3 permissions of a job: list, read and write below `arn:aws:s3:::<bucket>/<prefix>`, given as `bucket` or `bucket/prefix`."
  type = map(object({
    namespace        = string
    service_accounts = set(string)
    buckets          = optional(list(string), [])
    policy_arns      = optional(map(string))
    statements = optional(list(object({
      actions    = list(string)
      resources  = list(string)
      conditions = optional(map(map(list(string))))
    })), [])
  }))
  default  = {}
  nullable = false
}
