mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  repositories = ["mlops/digits", "mlops/bert"]
}

run "defaults" {
  command = plan

  assert {
    condition     = aws_ecr_repository.this["mlops/bert"].image_tag_mutability == "IMMUTABLE" && aws_ecr_repository.this["mlops/bert"].image_scanning_configuration[0].scan_on_push && !aws_ecr_repository.this["mlops/bert"].force_delete
    error_message = "Tags change, images are not scanned, or go with their repository."
  }
  assert {
    condition     = aws_ecr_repository.this["mlops/bert"].encryption_configuration[0].encryption_type == "AES256"
    error_message = "Images are not encrypted by S3's key."
  }
  assert {
    condition     = [for rule in jsondecode(aws_ecr_lifecycle_policy.this["mlops/digits"].policy).rules : rule.selection.countType] == ["sinceImagePushed"]
    error_message = "Something else than images without a tag expires."
  }
  assert {
    condition     = keys(output.repository_urls) == ["mlops/bert", "mlops/digits"]
    error_message = "The outputs are others."
  }
}

run "options" {
  command = plan
  variables {
    immutable          = false
    keep_untagged_days = 3
    keep_images        = 50
    force_delete       = true
    kms_key_arn        = "arn:aws:kms:us-west-2:123456789012:key/1234"
  }

  assert {
    condition     = [for rule in jsondecode(aws_ecr_lifecycle_policy.this["mlops/digits"].policy).rules : rule.selection.countNumber] == [3, 50]
    error_message = "The numbers are others."
  }
  assert {
    condition     = aws_ecr_repository.this["mlops/bert"].image_tag_mutability == "MUTABLE" && aws_ecr_repository.this["mlops/bert"].force_delete && aws_ecr_repository.this["mlops/bert"].encryption_configuration[0].encryption_type == "KMS"
    error_message = "The options are lost."
  }
}

run "a_name_in_capitals_is_refused" {
  command = plan
  variables { repositories = ["mlops/BERT"] }
  expect_failures = [var.repositories]
}

run "no_days_are_refused" {
  command = plan
  variables { keep_untagged_days = 0 }
  expect_failures = [var.keep_untagged_days]
}

run "no_images_are_refused" {
  command = plan
  variables { keep_images = 0 }
  expect_failures = [var.keep_images]
}
