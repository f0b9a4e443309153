output "handover" {
  description = "The values that later roles need."
  value = {
    cluster = {
      name                  = module.cluster.name
      arn                   = module.cluster.arn
      region                = var.region
      version               = module.cluster.version
      endpoint              = module.cluster.endpoint
      certificate_authority = module.cluster.certificate_authority
      service_cidr          = module.cluster.service_cidr
      oidc_issuer           = module.cluster.oidc_issuer
      oidc_provider_arn     = module.cluster.oidc_provider_arn
      kms_key_arn           = module.cluster.kms_key_arn
      auto_mode             = var.auto_mode.enabled
      addons                = merge(module.node_addons.versions, module.addons.versions)
    }
    network = {
      vpc_id                = local.network.vpc_id
      vpc_cidr              = local.network.vpc_cidr
      private_subnets       = local.network.private_subnets
      public_subnets        = local.network.public_subnets
      nat_public_ips        = local.network.nat_public_ips
      security_group_id     = module.cluster.security_group_id
      efa_security_group_id = module.cluster.efa_security_group_id
    }
    nodes = {
      role_arn  = module.cluster.node_role_arn
      role_name = module.cluster.node_role_name
      system    = one(module.system_node_group[*].name)
      accelerators = {
        for name, group in module.accelerator_node_groups : name => {
          name            = group.name
          instance_type   = var.accelerator_node_groups[name].instance_type
          accelerator     = group.accelerator
          efa_interfaces  = group.efa_interfaces
          placement_group = group.placement_group
        }
      }
    }
    karpenter = one([for karpenter in module.karpenter : {
      namespace           = karpenter.namespace
      service_account     = karpenter.service_account
      controller_role_arn = karpenter.controller_role_arn
      node_role_name      = karpenter.node_role_name
      instance_profile    = karpenter.instance_profile
      queue               = karpenter.queue
    }])
    efs = one([for efs in module.efs : {
      id       = efs.id
      dns_name = efs.dns_name
    }])
    fsx = {
      for name, fsx in module.fsx : name => {
        id                = fsx.id
        dns_name          = fsx.dns_name
        mount_name        = fsx.mount_name
        storage_capacity  = fsx.storage_capacity
        availability_zone = coalesce(var.fsx[name].availability_zone, local.zones[0])
        associations      = fsx.associations
      }
    }
    ecr            = module.ecr.repository_urls
    pod_identities = { for name, identity in module.pod_identities : name => identity.role_arn }
    tags           = local.tags
  }
}
