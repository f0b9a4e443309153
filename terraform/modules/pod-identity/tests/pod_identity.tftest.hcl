mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  cluster_name     = "demo"
  name             = "trainer"
  namespace        = "ml"
  service_accounts = ["trainer", "server"]
}

run "defaults" {
  command = plan

  assert {
    condition     = jsondecode(aws_iam_role.this.assume_role_policy).Statement[0].Principal.Service == "pods.eks.amazonaws.com"
    error_message = "Pods cannot have the role."
  }
  assert {
    condition = jsondecode(aws_iam_role.this.assume_role_policy).Statement[0].Condition.StringEquals == {
      "aws:RequestTag/eks-cluster-name"           = "demo"
      "aws:RequestTag/kubernetes-namespace"       = "ml"
      "aws:RequestTag/kubernetes-service-account" = ["server", "trainer"]
    }
    error_message = "Other pods could have the role."
  }
  assert {
    condition     = keys(aws_eks_pod_identity_association.this) == ["server", "trainer"] && aws_iam_role.this.name == "demo-trainer"
    error_message = "The service accounts do not have the role."
  }
  assert {
    condition     = length(aws_iam_role_policy.this) == 0 && length(aws_iam_role_policy_attachment.this) == 0
    error_message = "The role allows something nobody asked for."
  }
}

run "policies" {
  command = plan
  variables {
    policy_arns = { read = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess" }
    statements = [
      { actions = ["s3:GetObject"], resources = ["arn:aws:s3:::data/*"] },
      { actions = ["kms:Decrypt"], resources = ["*"], conditions = { StringEquals = { "kms:ViaService" = ["s3.us-west-2.amazonaws.com"] } } },
    ]
  }

  assert {
    condition     = aws_iam_role_policy_attachment.this["read"].policy_arn == "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
    error_message = "The policy is not attached."
  }
  assert {
    condition     = jsondecode(aws_iam_role_policy.this["statements"].policy).Statement[0] == { Effect = "Allow", Action = ["s3:GetObject"], Resource = ["arn:aws:s3:::data/*"] }
    error_message = "The statement is another."
  }
  assert {
    condition     = jsondecode(aws_iam_role_policy.this["statements"].policy).Statement[1].Condition.StringEquals["kms:ViaService"] == ["s3.us-west-2.amazonaws.com"]
    error_message = "The condition is lost."
  }
}

run "associated_by_the_addon" {
  command = plan
  variables { associate = false }

  assert {
    condition     = length(aws_eks_pod_identity_association.this) == 0
    error_message = "It is associated twice."
  }
}

run "a_name_too_long_is_refused" {
  command = plan
  variables { name = "a-name-that-is-much-too-long-to-be-that-of-a-role-in-iam-of-aws" }
  expect_failures = [var.name]
}

run "a_pattern_is_no_service_account" {
  command = plan
  variables { service_accounts = ["*"] }
  expect_failures = [var.service_accounts]
}

run "a_name_is_no_policy" {
  command = plan
  variables { policy_arns = { read = "AmazonS3ReadOnlyAccess" } }
  expect_failures = [var.policy_arns]
}

run "every_action_is_refused" {
  command = plan
  variables { statements = [{ actions = ["*"], resources = ["*"] }] }
  expect_failures = [var.statements]
}
