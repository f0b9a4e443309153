# Image repositories.

locals {
  untagged = {
    rulePriority = 1
    description  = "Images without a tag"
    selection    = { tagStatus = "untagged", countType = "sinceImagePushed", countUnit = "days", countNumber = var.keep_untagged_days }
    action       = { type = "expire" }
  }
  surplus = {
    rulePriority = 2
    description  = "All but the newest"
    selection    = { tagStatus = "any", countType = "imageCountMoreThan", countNumber = var.keep_images }
    action       = { type = "expire" }
  }
}

resource "aws_ecr_repository" "this" {
  for_each = var.repositories

  name                 = each.key
  image_tag_mutability = var.immutable ? "IMMUTABLE" : "MUTABLE"
  force_delete         = var.force_delete

  image_scanning_configuration {
    scan_on_push = true
  }

  encryption_configuration {
    encryption_type = var.kms_key_arn == null ? "AES256" : "KMS"
    kms_key         = var.kms_key_arn
  }
}

resource "aws_ecr_lifecycle_policy" "this" {
  for_each = var.repositories

  repository = aws_ecr_repository.this[each.key].name
  policy     = jsonencode({ rules = concat([local.untagged], var.keep_images == null ? [] : [local.surplus]) })
}
