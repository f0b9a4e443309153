variable "name" { type = string }
variable "region" { type = string }
variable "kubernetes_version" { type = string }
variable "network" {
  type    = any
  default = null
}
variable "endpoint" {
  type    = string
  default = ""
}
variable "certificate_authority" {
  type    = string
  default = ""
}

resource "terraform_data" "cluster" {
  input = { name = var.name, version = var.kubernetes_version }
}

output "handover" {
  value = {
    cluster = {
      name                  = terraform_data.cluster.output.name
      region                = var.region
      version               = terraform_data.cluster.output.version
      endpoint              = coalesce(var.endpoint, "https://0123456789ABCDEF.gr7.${var.region}.eks.amazonaws.com")
      certificate_authority = coalesce(var.certificate_authority, base64encode("certificate"))
    }
    efs = { id = "fs-0123456789abcdef0" }
  }
}
