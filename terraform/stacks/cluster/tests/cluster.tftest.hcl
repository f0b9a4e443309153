mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  name    = "demo"
  region  = "us-west-2"
  network = { availability_zones = ["us-west-2a", "us-west-2b", "us-west-2c"] }
}

run "defaults" {
  command = plan

  assert {
    condition     = output.handover.cluster.name == "demo" && output.handover.cluster.version == "1.35" && !output.handover.cluster.auto_mode
    error_message = "It is not a cluster of 1.35 without Auto Mode."
  }
  assert {
    condition     = keys(output.handover.cluster.addons) == ["aws-ebs-csi-driver", "aws-efs-csi-driver", "coredns", "eks-node-monitoring-agent", "eks-pod-identity-agent", "kube-proxy", "metrics-server", "vpc-cni"]
    error_message = "The add-ons are others."
  }
  assert {
    condition     = keys(output.handover.network.private_subnets) == ["us-west-2a", "us-west-2b", "us-west-2c"] && length(output.handover.network.nat_public_ips) == 1
    error_message = "The network is not three zones and one NAT gateway."
  }
  assert {
    condition     = keys(module.endpoints.endpoint_ids) == ["s3"]
    error_message = "S3 is reached through the NAT gateway."
  }
  assert {
    condition     = output.handover.nodes.system == "mock-20260101" && length(output.handover.nodes.accelerators) == 0 && output.handover.karpenter.queue == "demo-interruptions"
    error_message = "There is not a system node group, and Karpenter for the rest."
  }
  assert {
    condition     = output.handover.efs != null && length(output.handover.fsx) == 0 && length(output.handover.ecr) == 0
    error_message = "There is not EFS and nothing else."
  }
  assert {
    condition     = local.csi_drivers == ["efs"]
    error_message = "Nodes would wait for ever for a driver that is not there."
  }
  assert {
    condition     = output.handover.tags["mlops.eks/cluster"] == "demo" && length(output.handover.tags) == 1
    error_message = "What belongs to the cluster does not say so."
  }
}

run "everything" {
  command = plan
  variables {
    kubernetes_version = "1.36"
    tags               = { team = "ml" }
    network = {
      availability_zones = ["us-west-2a", "us-west-2b"]
      cidr               = "10.0.0.0/16"
      nat_gateways       = "per_zone"
    }
    vpc_endpoints = { interface = ["ecr.api", "ecr.dkr"] }
    endpoint      = { public_cidrs = ["203.0.113.0/24"] }
    control_plane = { logs = { types = ["audit"] }, oidc_provider = true, support_type = "extended" }
    access        = { team = { principal_arn = "arn:aws:iam::123456789012:role/team", policies = { AmazonEKSEditPolicy = ["ml"] } } }
    addons        = { metrics-server = null, vpc-cni = { version = "latest" }, snapshot-controller = {} }
    system_node_group = {
      ami_type = "BOTTLEROCKET_x86_64"
      size     = { min = 3 }
    }
    accelerator_node_groups = {
      p5 = {
        instance_type     = "p5.48xlarge"
        availability_zone = "us-west-2b"
        efa               = { enabled = true }
        capacity          = { type = "capacity_block", reservation_id = "cr-0123456789abcdef0" }
      }
      g6 = { instance_type = "g6.12xlarge", availability_zone = "us-west-2a", placement_group = true }
    }
    karpenter = { namespace = "karpenter" }
    efs       = { throughput = { mode = "bursting" } }
    fsx = {
      fsx     = { associations = { data = { s3_uri = "s3://bucket/data" } } }
      scratch = { availability_zone = "us-west-2b", storage_capacity = 2400 }
    }
    ecr = { repositories = ["mlops/digits"] }
    pod_identities = {
      trainer = { namespace = "ml", service_accounts = ["default"], buckets = ["bucket", "models/llama/"], statements = [{ actions = ["ecr:GetAuthorizationToken"], resources = ["*"] }] }
    }
  }

  assert {
    condition     = contains(keys(output.handover.cluster.addons), "aws-fsx-csi-driver") && contains(keys(output.handover.cluster.addons), "snapshot-controller") && !contains(keys(output.handover.cluster.addons), "metrics-server")
    error_message = "An add-on is not there, or one is that was removed."
  }
  assert {
    condition     = output.handover.nodes.accelerators["p5"].efa_interfaces == 32 && output.handover.nodes.accelerators["g6"].placement_group == "demo-g6" && output.handover.nodes.accelerators["g6"].efa_interfaces == 0
    error_message = "The node groups are others."
  }
  assert {
    condition     = local.csi_drivers == ["efs", "fsx"]
    error_message = "Nodes wait for other drivers than there are."
  }
  assert {
    condition     = output.handover.fsx["fsx"].availability_zone == "us-west-2a" && output.handover.fsx["scratch"].availability_zone == "us-west-2b" && output.handover.fsx["scratch"].storage_capacity == 2400 && keys(output.handover.fsx["fsx"].associations) == ["data"]
    error_message = "The file systems are others."
  }
  assert {
    condition     = output.handover.karpenter.namespace == "karpenter" && output.handover.cluster.oidc_provider_arn != null && output.handover.cluster.version == "1.36"
    error_message = "Karpenter, the OIDC provider or the version are others."
  }
  assert {
    condition = local.bucket_statements["trainer"][*].resources == [
      ["arn:aws:s3:::bucket"], ["arn:aws:s3:::bucket/*"], ["arn:aws:s3:::models"], ["arn:aws:s3:::models/llama/*"],
    ]
    error_message = "Jobs may reach other objects than those named."
  }
  assert {
    condition     = keys(output.handover.pod_identities) == ["trainer"] && keys(output.handover.ecr) == ["mlops/digits"]
    error_message = "Identities or repositories are others."
  }
}

run "auto_mode" {
  command = plan
  variables {
    auto_mode = { enabled = true }
    efs       = { enabled = false }
  }

  assert {
    condition     = output.handover.cluster.auto_mode && length(output.handover.cluster.addons) == 0
    error_message = "There are add-ons that Auto Mode has of its own."
  }
  assert {
    condition     = output.handover.nodes.system == null && output.handover.karpenter == null && output.handover.efs == null
    error_message = "There are nodes or a Karpenter that Auto Mode has of its own."
  }
}

run "a_driver_of_ones_own_and_one_removed" {
  command = plan
  variables { addons = { aws-efs-csi-driver = null, aws-fsx-csi-driver = {} } }

  assert {
    condition     = local.csi_drivers == ["fsx"]
    error_message = "Nodes wait for other drivers than there are."
  }
}

run "an_autoscaler_keeps_its_number" {
  command = plan
  variables {
    autoscaler              = "cluster-autoscaler"
    accelerator_node_groups = { p5 = { instance_type = "p5.48xlarge", size = { min = 1, max = 8 } }, p5-big = { instance_type = "p5.48xlarge" } }
  }

  override_data {
    target = data.aws_autoscaling_groups.this
    values = { names = ["eks-p5-202601200915020000000000ab-0cc4b5c2-8f2a-11ee", "eks-p5-big-202601200915020000000000ac-0cc4b5c2", "by-hand"] }
  }
  override_data {
    target = data.aws_autoscaling_group.this
    values = { desired_capacity = 5 }
  }

  assert {
    condition     = local.autoscaled_sizes == { p5 = 5, p5-big = 5 }
    error_message = "The numbers are not those that the autoscaler gave the groups."
  }
}

run "without_an_autoscaler_nothing_is_looked_up" {
  command = plan

  assert {
    condition     = length(data.aws_autoscaling_groups.this) == 0 && length(data.aws_autoscaling_group.this) == 0
    error_message = "Auto Scaling is asked for numbers that variables say."
  }
}

run "without_karpenter" {
  command = plan
  variables { karpenter = { enabled = false } }

  assert {
    condition     = output.handover.karpenter == null
    error_message = "There is a Karpenter."
  }
}

run "existing_network" {
  command = plan
  variables {
    network = { existing = { vpc_id = "vpc-1", private_subnets = { us-west-2a = "subnet-a", us-west-2b = "subnet-b" } } }
    fsx     = { fsx = {} }
  }

  override_module {
    target  = module.existing_network
    outputs = { vpc_id = "vpc-1", vpc_cidr = "10.0.0.0/16", private_subnets = { us-west-2a = "subnet-a", us-west-2b = "subnet-b" }, public_subnets = {}, private_route_table_ids = ["rtb-1"], nat_public_ips = [] }
  }

  assert {
    condition     = output.handover.network.vpc_id == "vpc-1" && length(module.network) == 0 && length(module.endpoints.endpoint_ids) == 0
    error_message = "Something was made in a network that is another's."
  }
  assert {
    condition     = output.handover.fsx["fsx"].availability_zone == "us-west-2a"
    error_message = "The file system is not in the first zone."
  }
}
