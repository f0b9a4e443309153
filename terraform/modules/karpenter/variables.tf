variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  nullable    = false
}

variable "cluster_arn" {
  description = "ARN of the cluster."
  type        = string
  nullable    = false
}

variable "namespace" {
  description = "Namespace of the controller."
  type        = string
  default     = "kube-system"
  nullable    = false
}

variable "service_account" {
  description = "Service account of the controller."
  type        = string
  default     = "karpenter"
  nullable    = false
}

variable "node_policy_arns" {
  description = "More IAM policies of the nodes, by a name of your choice."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for arn in var.node_policy_arns : can(regex("^arn:aws[a-z-]*:iam::(aws|[0-9]{12}):policy/", arn))])
    error_message = "node_policy_arns: ${join(", ", [for name, arn in var.node_policy_arns : "${name} (${arn})" if !can(regex("^arn:aws[a-z-]*:iam::(aws|[0-9]{12}):policy/", arn))])} is no ARN of an IAM policy."
  }
}
