variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false
}

variable "kubernetes_version" {
  description = "Kubernetes minor version of the cluster; decides which version of an add-on is its default."
  type        = string
  nullable    = false
}

variable "addons" {
  description = "EKS add-ons by name. `version` defaults to EKS's default for the cluster's version (`latest`: its newest); `configuration` is what the add-on's schema allows; `identities` are the IAM roles of its service accounts, by Pod Identity."
  type = map(object({
    version       = optional(string)
    configuration = optional(string)
    identities    = optional(map(string), {})
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for addon in var.addons : addon.configuration == null ? true : can(jsondecode(addon.configuration))])
    error_message = "addons: ${join(", ", [for name, addon in var.addons : name if addon.configuration == null ? false : !can(jsondecode(addon.configuration))])}: configuration is no JSON."
  }
  validation {
    condition     = alltrue([for addon in var.addons : addon.version == null ? true : can(regex("^(latest|v[0-9].*-eksbuild\\.[0-9]+)$", addon.version))])
    error_message = "addons: ${join(", ", [for name, addon in var.addons : "${name} (${coalesce(addon.version, "null")})" if addon.version == null ? false : !can(regex("^(latest|v[0-9].*-eksbuild\\.[0-9]+)$", addon.version))])}: version is neither latest nor like v1.2.3-eksbuild.1."
  }
}
