module "efs" {
  source = "../../modules/efs"
  count  = var.efs.enabled ? 1 : 0

  name                     = var.name
  vpc_id                   = local.network.vpc_id
  subnets                  = local.network.private_subnets
  client_security_group_id = module.cluster.security_group_id
  performance_mode         = var.efs.performance_mode
  throughput               = var.efs.throughput
  infrequent_after_days    = var.efs.infrequent_after_days
  backup                   = var.efs.backup
  kms_key_arn              = var.efs.kms_key_arn
}

module "fsx" {
  source   = "../../modules/fsx"
  for_each = var.fsx

  name                     = "${var.name}-${each.key}"
  vpc_id                   = local.network.vpc_id
  subnet_id                = local.network.private_subnets[coalesce(each.value.availability_zone, local.zones[0])]
  client_security_group_id = module.cluster.security_group_id
  deployment_type          = each.value.deployment_type
  storage_capacity         = each.value.storage_capacity
  throughput_per_unit      = each.value.throughput_per_unit
  efa                      = each.value.efa
  compression              = each.value.compression
  lustre_version           = each.value.lustre_version
  backup_days              = each.value.backup_days
  kms_key_arn              = each.value.kms_key_arn
  associations             = each.value.associations
}

module "ecr" {
  source = "../../modules/ecr"

  repositories       = var.ecr.repositories
  immutable          = var.ecr.immutable
  keep_untagged_days = var.ecr.keep_untagged_days
  keep_images        = var.ecr.keep_images
  force_delete       = var.ecr.force_delete
  kms_key_arn        = var.ecr.kms_key_arn
}

module "pod_identities" {
  source   = "../../modules/pod-identity"
  for_each = var.pod_identities

  cluster_name     = module.cluster.name
  name             = each.key
  namespace        = each.value.namespace
  service_accounts = each.value.service_accounts
  policy_arns      = each.value.policy_arns
  statements       = concat(local.bucket_statements[each.key], each.value.statements)
}

locals {
  s3 = "arn:${data.aws_partition.current.partition}:s3:::"

  bucket_statements = {
    for name, identity in var.pod_identities : name => flatten([
      for bucket in identity.buckets : [
        {
          actions    = ["s3:ListBucket", "s3:GetBucketLocation"]
          resources  = ["${local.s3}${split("/", bucket)[0]}"]
          conditions = {}
        },
        {
          actions    = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
          resources  = ["${local.s3}${trimsuffix(bucket, "/")}/*"]
          conditions = {}
        },
      ]
    ])
  }
}
