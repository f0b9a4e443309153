variable "name" {
  description = "Name of the cluster; the endpoints have names that begin with it."
  type        = string
  nullable    = false
}

variable "vpc_id" {
  description = "ID of the VPC."
  type        = string
  nullable    = false
}

variable "vpc_cidr" {
  description = "IPv4 range that may call the interface endpoints."
  type        = string
  nullable    = false
}

variable "subnets" {
  description = "Subnets in which the interface endpoints have their addresses, by zone."
  type        = map(string)
  nullable    = false
}

variable "route_table_ids" {
  description = "Route tables that get the routes of the gateway endpoints."
  type        = list(string)
  nullable    = false
}

variable "gateway_services" {
  description = "Services reached by a route, free of charge: `s3`, `dynamodb`."
  type        = set(string)
  default     = ["s3"]
  nullable    = false

  validation {
    condition     = length(setsubtract(var.gateway_services, ["s3", "dynamodb"])) == 0
    error_message = "gateway_services: ${join(", ", setsubtract(var.gateway_services, ["s3", "dynamodb"]))} has no gateway endpoint, only s3 and dynamodb do; put it into interface_services."
  }
}

variable "interface_services" {
  description = "Services reached by an address in each subnet, charged by the hour, spelled as in their endpoint's name after the region: `ecr.api`, `ecr.dkr`, `sts`, ..."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for service in var.interface_services : can(regex("^[a-z0-9.-]+$", service)) && !startswith(service, "com.")])
    error_message = "interface_services: [${join(", ", var.interface_services)}]: write a service as it stands after the region, ecr.api for com.amazonaws.us-west-2.ecr.api."
  }
}
