variable "name" { type = string }
variable "region" { type = string }
variable "kubernetes_version" { type = string }

resource "terraform_data" "cluster" {
  input = { name = var.name, version = var.kubernetes_version }
}

output "handover" {
  value = {
    cluster = {
      name                  = terraform_data.cluster.output.name
      region                = var.region
      version               = terraform_data.cluster.output.version
      endpoint              = "https://0123456789ABCDEF.gr7.${var.region}.eks.amazonaws.com"
      certificate_authority = base64encode("certificate")
    }
    efs = { id = "fs-0123456789abcdef0" }
  }
}
