variable "vpc_id" {
  description = "ID of the VPC to build in."
  type        = string
  nullable    = false

  validation {
    condition     = startswith(var.vpc_id, "vpc-")
    error_message = "vpc_id: ${var.vpc_id} is no VPC's ID; they begin with vpc-."
  }
}

variable "private_subnets" {
  description = "IDs of the private subnets by zone, for nodes and file systems."
  type        = map(string)
  nullable    = false

  validation {
    condition     = length(var.private_subnets) >= 2
    error_message = "private_subnets: zones [${join(", ", keys(var.private_subnets))}]; EKS needs subnets in at least 2 zones."
  }
}

variable "public_subnets" {
  description = "IDs of the public subnets by zone, for load balancers that face the Internet."
  type        = map(string)
  default     = {}
  nullable    = false
}
