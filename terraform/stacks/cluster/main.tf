# An EKS cluster with its storage, images and identities, composed of modules. What runs inside the cluster is not installed here.

locals {
  tags  = merge(var.tags, { "mlops.eks/cluster" = var.name })
  zones = try(keys(var.network.existing.private_subnets), coalesce(var.network.availability_zones, []))

  network = one(concat(module.network[*], module.existing_network[*]))
}

module "network" {
  source = "../../modules/network"
  count  = var.network.existing == null ? 1 : 0

  name               = var.name
  availability_zones = local.zones
  cidr               = var.network.cidr
  private_cidrs      = var.network.private_cidrs
  public_cidrs       = var.network.public_cidrs
  nat_gateways       = var.network.nat_gateways
}

module "existing_network" {
  source = "../../modules/existing-network"
  count  = var.network.existing == null ? 0 : 1

  vpc_id          = var.network.existing.vpc_id
  private_subnets = var.network.existing.private_subnets
  public_subnets  = var.network.existing.public_subnets
}

module "endpoints" {
  source = "../../modules/endpoints"

  name               = var.name
  vpc_id             = local.network.vpc_id
  vpc_cidr           = local.network.vpc_cidr
  subnets            = local.network.private_subnets
  route_table_ids    = local.network.private_route_table_ids
  gateway_services   = var.vpc_endpoints.gateway != null ? var.vpc_endpoints.gateway : var.network.existing == null ? ["s3"] : []
  interface_services = var.vpc_endpoints.interface
}

module "cluster" {
  source = "../../modules/cluster"

  name               = var.name
  kubernetes_version = var.kubernetes_version
  vpc_id             = local.network.vpc_id
  subnet_ids         = values(local.network.private_subnets)
  endpoint           = var.endpoint
  access             = var.access
  auto_mode          = var.auto_mode
  support_type       = var.control_plane.support_type
  service_cidr       = var.control_plane.service_cidr
  logs               = var.control_plane.logs
  kms_key_arn        = var.control_plane.kms_key_arn
  creator_is_admin   = var.control_plane.creator_is_admin
  oidc_provider      = var.control_plane.oidc_provider
  zonal_shift        = var.control_plane.zonal_shift
}
