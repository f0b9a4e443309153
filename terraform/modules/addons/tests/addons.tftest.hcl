mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  cluster_name       = "demo"
  kubernetes_version = "1.35"
}

run "none_by_default" {
  command = plan

  assert {
    condition     = length(aws_eks_addon.this) == 0
    error_message = "There are add-ons nobody asked for."
  }
}

run "versions" {
  command = plan
  variables {
    addons = {
      coredns    = {}
      kube-proxy = { version = "latest" }
      vpc-cni    = { version = "v1.20.4-eksbuild.1", configuration = "{\"env\": {\"ENABLE_PREFIX_DELEGATION\": \"true\"}}" }
    }
  }

  assert {
    condition     = aws_eks_addon.this["coredns"].addon_version == "v1.2.3-eksbuild.1" && !data.aws_eks_addon_version.this["coredns"].most_recent
    error_message = "An add-on without a version is not EKS's default."
  }
  assert {
    condition     = data.aws_eks_addon_version.this["kube-proxy"].most_recent
    error_message = "The latest is not the most recent."
  }
  assert {
    condition     = aws_eks_addon.this["vpc-cni"].addon_version == "v1.20.4-eksbuild.1" && !contains(keys(data.aws_eks_addon_version.this), "vpc-cni")
    error_message = "EKS was asked for a version that is given."
  }
  assert {
    condition     = jsondecode(aws_eks_addon.this["vpc-cni"].configuration_values).env.ENABLE_PREFIX_DELEGATION == "true"
    error_message = "The configuration was not passed on."
  }
  assert {
    condition     = output.versions == { coredns = "v1.2.3-eksbuild.1", kube-proxy = "v1.2.3-eksbuild.1", vpc-cni = "v1.20.4-eksbuild.1" }
    error_message = "The versions are not handed on."
  }
}

run "identities" {
  command = plan
  variables { addons = { aws-ebs-csi-driver = { identities = { ebs-csi-controller-sa = "arn:aws:iam::123456789012:role/ebs" } } } }

  assert {
    condition     = one(aws_eks_addon.this["aws-ebs-csi-driver"].pod_identity_association).service_account == "ebs-csi-controller-sa"
    error_message = "The service account has no role."
  }
}

run "configuration_has_to_be_json" {
  command = plan
  variables { addons = { vpc-cni = { configuration = "env: {}" } } }
  expect_failures = [var.addons]
}

run "a_version_has_a_form" {
  command = plan
  variables { addons = { vpc-cni = { version = "1.20" } } }
  expect_failures = [var.addons]
}
