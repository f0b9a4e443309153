variable "name" {
  description = "Name of the cluster; roles, key and log group have names that begin with it."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,38}[a-z0-9]$", var.name))
    error_message = "name: ${var.name} is not 2 to 40 lower-case letters, digits and hyphens that begin with a letter; longer names leave no room in the names of roles."
  }
}

variable "kubernetes_version" {
  description = "Kubernetes minor version of the control plane."
  type        = string
  default     = "1.35"
  nullable    = false

  validation {
    condition     = contains(["1.34", "1.35", "1.36"], var.kubernetes_version)
    error_message = "kubernetes_version: ${var.kubernetes_version} is not tested; choose 1.34, 1.35 or 1.36."
  }
}

variable "support_type" {
  description = "`standard`: EKS upgrades a version when its 14 months are over; `extended`: it stays for 12 more at an extra charge by the hour."
  type        = string
  default     = "standard"
  nullable    = false

  validation {
    condition     = contains(["standard", "extended"], var.support_type)
    error_message = "support_type: ${var.support_type} is neither standard nor extended."
  }
}

variable "vpc_id" {
  description = "ID of the VPC."
  type        = string
  nullable    = false
}

variable "subnet_ids" {
  description = "Private subnets, in at least two zones, in which the control plane has its interfaces."
  type        = list(string)
  nullable    = false
}

variable "endpoint" {
  description = "Who may reach the API server: everybody inside the VPC (`private`), and from outside of it (`public`) those in `public_cidrs`."
  type = object({
    private      = optional(bool, true)
    public       = optional(bool, true)
    public_cidrs = optional(list(string), ["0.0.0.0/0"])
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.endpoint.private || var.endpoint.public
    error_message = "endpoint: neither private nor public, so nobody could reach the API server; set one of them."
  }
  validation {
    condition     = !var.endpoint.public || length(var.endpoint.public_cidrs) > 0
    error_message = "endpoint.public_cidrs: empty; name who may reach the public endpoint, or set endpoint.public to false."
  }
  validation {
    condition     = alltrue([for cidr in var.endpoint.public_cidrs : can(cidrhost(cidr, 0))])
    error_message = "endpoint.public_cidrs: [${join(", ", var.endpoint.public_cidrs)}] holds something that is no IPv4 range."
  }
  validation {
    condition     = var.endpoint.private || contains(var.endpoint.public_cidrs, "0.0.0.0/0")
    error_message = "endpoint: with private off, nodes come from public addresses that public_cidrs [${join(", ", var.endpoint.public_cidrs)}] would have to hold; set endpoint.private to true."
  }
}

variable "service_cidr" {
  description = "IPv4 range of Kubernetes services, /12 to /24 of a private range and outside of the VPC; by default EKS chooses 10.100.0.0/16 or 172.20.0.0/16."
  type        = string
  default     = null

  validation {
    condition     = var.service_cidr == null ? true : can(regex("/(1[2-9]|2[0-4])$", var.service_cidr)) && can(cidrhost(var.service_cidr, 0))
    error_message = "service_cidr: ${coalesce(var.service_cidr, "null")} is no IPv4 range between /12 and /24."
  }
}

variable "logs" {
  description = "Control-plane logs to keep in CloudWatch: which `types`, and for how many days."
  type = object({
    types          = optional(set(string), ["api", "audit", "authenticator"])
    retention_days = optional(number, 30)
  })
  default  = {}
  nullable = false

  validation {
    condition     = length(setsubtract(var.logs.types, ["api", "audit", "authenticator", "controllerManager", "scheduler"])) == 0
    error_message = "logs.types: ${join(", ", setsubtract(var.logs.types, ["api", "audit", "authenticator", "controllerManager", "scheduler"]))} is none of api, audit, authenticator, controllerManager, scheduler."
  }
  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653], var.logs.retention_days)
    error_message = "logs.retention_days: CloudWatch does not keep logs for ${var.logs.retention_days} days; choose 7, 14, 30, 60, 90, 180, 365 or another of its periods."
  }
}

variable "kms_key_arn" {
  description = "KMS key that encrypts Kubernetes Secrets; by default the module creates one."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null ? true : can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/", var.kms_key_arn))
    error_message = "kms_key_arn: ${coalesce(var.kms_key_arn, "null")} is no ARN of a KMS key (an alias will not do)."
  }
}

variable "creator_is_admin" {
  description = "Whether the identity that creates the cluster may do anything in it. Cannot be changed later."
  type        = bool
  default     = true
  nullable    = false
}

variable "access" {
  description = "Who may do what in the cluster, by a name of your choice: `policies` are EKS access policies (`AmazonEKSViewPolicy`, ...) and the namespaces that each is limited to (none: all of them)."
  type = map(object({
    principal_arn     = string
    type              = optional(string, "STANDARD")
    kubernetes_groups = optional(list(string), [])
    policies          = optional(map(list(string)), {})
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for entry in var.access : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/", entry.principal_arn))])
    error_message = "access: ${join(", ", [for name, entry in var.access : "${name} (${entry.principal_arn})" if !can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/", entry.principal_arn))])}: principal_arn is the ARN of no IAM role or user."
  }
  validation {
    condition     = length(distinct([for entry in var.access : entry.principal_arn])) == length(var.access)
    error_message = "access: [${join(", ", keys(var.access))}] names a principal twice; EKS keeps one entry a principal, merge them."
  }
  validation {
    condition     = alltrue([for entry in var.access : contains(["STANDARD", "EC2_LINUX", "EC2"], entry.type)])
    error_message = "access: ${join(", ", [for name, entry in var.access : "${name} (${entry.type})" if !contains(["STANDARD", "EC2_LINUX", "EC2"], entry.type)])}: type is none of STANDARD, EC2_LINUX, EC2."
  }
  validation {
    condition     = alltrue([for entry in var.access : entry.type == "STANDARD" || entry.type == "EC2" || length(entry.policies) + length(entry.kubernetes_groups) == 0])
    error_message = "access: ${join(", ", [for name, entry in var.access : name if entry.type == "EC2_LINUX" && length(entry.policies) + length(entry.kubernetes_groups) > 0])}: entries of type EC2_LINUX take neither policies nor groups; remove them."
  }
}

variable "auto_mode" {
  description = "EKS Auto Mode: AWS runs Karpenter, volumes and load balancers. `node_pools` are the built-in pools, `general-purpose` and `system`; pools for accelerators are made in the cluster."
  type = object({
    enabled    = optional(bool, false)
    node_pools = optional(set(string), ["general-purpose", "system"])
  })
  default  = {}
  nullable = false

  validation {
    condition     = length(setsubtract(var.auto_mode.node_pools, ["general-purpose", "system"])) == 0
    error_message = "auto_mode.node_pools: ${join(", ", setsubtract(var.auto_mode.node_pools, ["general-purpose", "system"]))} is no built-in pool; EKS has general-purpose and system."
  }
}

variable "oidc_provider" {
  description = "Whether IAM trusts the cluster's OIDC issuer, for workloads that do not support Pod Identity."
  type        = bool
  default     = false
  nullable    = false
}

variable "zonal_shift" {
  description = "Whether Application Recovery Controller may move the cluster's traffic out of an impaired zone."
  type        = bool
  default     = false
  nullable    = false
}
