variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false
}

variable "name" {
  description = "What the role is for; the role is called `<cluster_name>-<name>`."
  type        = string
  nullable    = false

  validation {
    condition     = length("${var.cluster_name}-${var.name}") <= 64
    error_message = "name: the role ${var.cluster_name}-${var.name} would have more than IAM's 64 characters; shorten the name."
  }
}

variable "namespace" {
  description = "Namespace of the service accounts."
  type        = string
  nullable    = false
}

variable "service_accounts" {
  description = "Service accounts whose pods get the role."
  type        = set(string)
  nullable    = false

  validation {
    condition     = length(var.service_accounts) > 0 && !contains(var.service_accounts, "*")
    error_message = "service_accounts: [${join(", ", var.service_accounts)}]: name at least one, each in full; Pod Identity knows no patterns."
  }
}

variable "associate" {
  description = "Whether to associate the role with the service accounts here; an EKS add-on does that itself."
  type        = bool
  default     = true
  nullable    = false
}

variable "policy_arns" {
  description = "IAM policies to attach, by a name of your choice."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for arn in var.policy_arns : can(regex("^arn:aws[a-z-]*:iam::(aws|[0-9]{12}):policy/", arn))])
    error_message = "policy_arns: ${join(", ", [for name, arn in var.policy_arns : "${name} (${arn})" if !can(regex("^arn:aws[a-z-]*:iam::(aws|[0-9]{12}):policy/", arn))])} is no ARN of an IAM policy."
  }
}

variable "statements" {
  description = "What else the role allows: `conditions` are operator, then key, then values."
  type = list(object({
    actions    = list(string)
    resources  = list(string)
    conditions = optional(map(map(list(string))), {})
  }))
  default  = []
  nullable = false

  validation {
    condition     = alltrue([for statement in var.statements : !contains(statement.actions, "*")])
    error_message = "statements: one allows every action (*); name the actions."
  }
}
