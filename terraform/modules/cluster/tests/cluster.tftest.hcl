mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name       = "demo"
  vpc_id     = "vpc-1"
  subnet_ids = ["subnet-a", "subnet-b"]
}

run "defaults" {
  command = plan

  assert {
    condition     = aws_eks_cluster.this.version == "1.35" && aws_eks_cluster.this.upgrade_policy[0].support_type == "STANDARD"
    error_message = "It is not 1.35 under standard support."
  }
  assert {
    condition     = aws_eks_cluster.this.access_config[0].authentication_mode == "API" && aws_eks_cluster.this.access_config[0].bootstrap_cluster_creator_admin_permissions
    error_message = "Access is not by entries, or its creator has none."
  }
  assert {
    condition     = aws_eks_cluster.this.encryption_config[0].provider[0].key_arn == aws_kms_key.secrets["this"].arn && aws_kms_key.secrets["this"].enable_key_rotation
    error_message = "Secrets are not encrypted by a key of the cluster's own that rotates."
  }
  assert {
    condition     = aws_eks_cluster.this.enabled_cluster_log_types == toset(["api", "audit", "authenticator"]) && aws_cloudwatch_log_group.control_plane["this"].retention_in_days == 30
    error_message = "The logs are not api, audit and authenticator for 30 days."
  }
  assert {
    condition     = aws_eks_cluster.this.vpc_config[0].endpoint_private_access && aws_eks_cluster.this.vpc_config[0].public_access_cidrs == toset(["0.0.0.0/0"])
    error_message = "The endpoint is not both private and public."
  }
  assert {
    condition     = !aws_eks_cluster.this.compute_config[0].enabled && !aws_eks_cluster.this.bootstrap_self_managed_addons
    error_message = "Auto Mode is on, or EKS installs add-ons without versions."
  }
  assert {
    condition     = toset(keys(aws_iam_role_policy_attachment.node)) == toset(["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"])
    error_message = "Nodes may do something else than they need."
  }
  assert {
    condition = (
      aws_vpc_security_group_ingress_rule.efa.referenced_security_group_id == aws_security_group.efa.id && aws_vpc_security_group_ingress_rule.efa.ip_protocol == "-1" &&
      aws_vpc_security_group_egress_rule.efa.referenced_security_group_id == aws_security_group.efa.id && aws_vpc_security_group_egress_rule.efa.ip_protocol == "-1"
    )
    error_message = "The EFA group does not name itself in both directions."
  }
  assert {
    condition     = output.oidc_provider_arn == null && length(aws_eks_access_entry.this) == 0
    error_message = "There is an OIDC provider or an access entry nobody asked for."
  }
}

run "private" {
  command = plan
  variables { endpoint = { public = false } }

  assert {
    condition     = !aws_eks_cluster.this.vpc_config[0].endpoint_public_access && aws_eks_cluster.this.vpc_config[0].endpoint_private_access
    error_message = "The endpoint is public."
  }
}

run "restricted" {
  command = plan
  variables { endpoint = { public_cidrs = ["203.0.113.0/24"] } }

  assert {
    condition     = aws_eks_cluster.this.vpc_config[0].public_access_cidrs == toset(["203.0.113.0/24"])
    error_message = "The public endpoint is open to others."
  }
}

run "auto_mode" {
  command = plan
  variables { auto_mode = { enabled = true } }

  assert {
    condition = (
      aws_eks_cluster.this.compute_config[0].enabled && aws_eks_cluster.this.storage_config[0].block_storage[0].enabled &&
      aws_eks_cluster.this.kubernetes_network_config[0].elastic_load_balancing[0].enabled
    )
    error_message = "Not all three switches of Auto Mode are on."
  }
  assert {
    condition     = aws_eks_cluster.this.compute_config[0].node_pools == toset(["general-purpose", "system"]) && aws_eks_cluster.this.compute_config[0].node_role_arn == aws_iam_role.node.arn
    error_message = "Auto Mode has no pools, or no role for their nodes."
  }
  assert {
    condition     = length(aws_iam_role_policy_attachment.cluster) == 5 && contains(jsondecode(aws_iam_role.cluster.assume_role_policy).Statement[0].Action, "sts:TagSession")
    error_message = "The control plane may not do what Auto Mode does."
  }
  assert {
    condition     = contains(keys(aws_iam_role_policy_attachment.node), "AmazonEKSWorkerNodeMinimalPolicy")
    error_message = "The nodes do not have Auto Mode's policies."
  }
}

run "auto_mode_without_pools" {
  command = plan
  variables { auto_mode = { enabled = true, node_pools = [] } }

  assert {
    condition     = aws_eks_cluster.this.compute_config[0].node_role_arn == null
    error_message = "EKS refuses a role without pools."
  }
}

run "options" {
  command = plan
  variables {
    kubernetes_version = "1.34"
    support_type       = "extended"
    service_cidr       = "172.20.0.0/16"
    kms_key_arn        = "arn:aws:kms:us-west-2:123456789012:key/1234"
    creator_is_admin   = false
    oidc_provider      = true
    zonal_shift        = true
    logs               = { types = [] }
  }

  assert {
    condition     = aws_eks_cluster.this.version == "1.34" && aws_eks_cluster.this.upgrade_policy[0].support_type == "EXTENDED"
    error_message = "Version or support are not as asked for."
  }
  assert {
    condition     = aws_eks_cluster.this.kubernetes_network_config[0].service_ipv4_cidr == "172.20.0.0/16"
    error_message = "Services have other addresses."
  }
  assert {
    condition     = length(aws_kms_key.secrets) == 0 && output.kms_key_arn == var.kms_key_arn && aws_eks_cluster.this.encryption_config[0].provider[0].key_arn == var.kms_key_arn
    error_message = "The key given was not taken."
  }
  assert {
    condition     = !aws_eks_cluster.this.access_config[0].bootstrap_cluster_creator_admin_permissions && aws_eks_cluster.this.zonal_shift_config[0].enabled
    error_message = "The creator is admin, or zonal shift is off."
  }
  assert {
    condition     = length(aws_cloudwatch_log_group.control_plane) == 0 && output.oidc_provider_arn == "arn:aws:iam::123456789012:oidc-provider/mock"
    error_message = "There are logs, or there is no OIDC provider."
  }
}

run "access" {
  command = plan
  variables {
    access = {
      admins = { principal_arn = "arn:aws:iam::123456789012:role/admins", policies = { AmazonEKSClusterAdminPolicy = [] } }
      team   = { principal_arn = "arn:aws:iam::123456789012:role/team", policies = { AmazonEKSEditPolicy = ["ml"], AmazonEKSViewPolicy = [] }, kubernetes_groups = ["ml"] }
      nodes  = { principal_arn = "arn:aws:iam::123456789012:role/nodes", type = "EC2_LINUX" }
    }
  }

  assert {
    condition     = keys(aws_eks_access_policy_association.this) == ["admins/AmazonEKSClusterAdminPolicy", "team/AmazonEKSEditPolicy", "team/AmazonEKSViewPolicy"]
    error_message = "Not every policy was granted."
  }
  assert {
    condition     = aws_eks_access_policy_association.this["team/AmazonEKSEditPolicy"].access_scope[0].namespaces == toset(["ml"]) && aws_eks_access_policy_association.this["team/AmazonEKSViewPolicy"].access_scope[0].type == "cluster"
    error_message = "A policy reaches too far, or not far enough."
  }
  assert {
    condition     = aws_eks_access_policy_association.this["admins/AmazonEKSClusterAdminPolicy"].policy_arn == "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    error_message = "That is no ARN of an access policy."
  }
}
