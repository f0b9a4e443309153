mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  cluster_name       = "demo"
  kubernetes_version = "1.35"
  node_role_arn      = "arn:aws:iam::123456789012:role/demo-node"
  subnet_ids         = ["subnet-a", "subnet-b"]
  tags               = { team = "ml" }
}

run "defaults" {
  command = plan

  assert {
    condition     = aws_eks_node_group.this.ami_type == "AL2023_x86_64_STANDARD" && aws_eks_node_group.this.capacity_type == "ON_DEMAND"
    error_message = "It is not AL2023 on demand."
  }
  assert {
    condition     = aws_eks_node_group.this.scaling_config[0].min_size == 2 && aws_eks_node_group.this.scaling_config[0].desired_size == 2 && aws_eks_node_group.this.scaling_config[0].max_size == 8
    error_message = "It has not 2 to 8 nodes."
  }
  assert {
    condition     = aws_launch_template.this.block_device_mappings[0].ebs[0].encrypted == "true" && aws_launch_template.this.block_device_mappings[0].device_name == "/dev/xvda"
    error_message = "The volume is not encrypted."
  }
  assert {
    condition     = aws_launch_template.this.metadata_options[0].http_tokens == "required" && aws_launch_template.this.metadata_options[0].http_put_response_hop_limit == 1
    error_message = "Pods could read the node's credentials."
  }
  assert {
    condition     = aws_launch_template.this.metadata_options[0].instance_metadata_tags == "disabled"
    error_message = "EC2 would not launch instances that have tags of Kubernetes."
  }
  assert {
    condition     = alltrue([for made in aws_launch_template.this.tag_specifications : made.tags == tomap({ Name = "demo-system", "mlops.eks/cluster" = "demo" })])
    error_message = "A change of a tag would replace all nodes, or what EC2 makes does not say whose it is."
  }
  assert {
    condition     = { for key, made in aws_autoscaling_group_tag.this : key => "${made.tag[0].value} ${made.tag[0].propagate_at_launch}" } == { team = "ml true" }
    error_message = "New nodes do not carry the stack's tags."
  }
  assert {
    condition     = aws_eks_node_group.this.update_config[0].max_unavailable == 1
    error_message = "Several nodes would go at once."
  }
  assert {
    condition     = output.name == "mock-20260101" && output.autoscaling_group_names == ["eks-mock"]
    error_message = "The outputs are others."
  }
}

run "options" {
  command = plan
  variables {
    name               = "core"
    ami_type           = "BOTTLEROCKET_ARM_64"
    release_version    = "1.50.0-abcd"
    instance_types     = ["m7g.large"]
    capacity_type      = "spot"
    size               = { min = 0, max = 3, desired = 1 }
    volume             = { size = 50, iops = 6000, throughput = 500, kms_key_arn = "arn:aws:kms:us-west-2:123456789012:key/1234" }
    labels             = { role = "system" }
    taints             = [{ key = "CriticalAddonsOnly", value = "true", effect = "NO_SCHEDULE" }]
    key_pair           = "ops"
    metadata_hop_limit = 2
  }

  assert {
    condition     = aws_eks_node_group.this.ami_type == "BOTTLEROCKET_ARM_64" && aws_eks_node_group.this.release_version == "1.50.0-abcd" && [for volume in aws_launch_template.this.block_device_mappings : "${volume.device_name} ${volume.ebs[0].encrypted}"] == ["/dev/xvdb true", "/dev/xvda true"]
    error_message = "It is not Bottlerocket with containers on its second volume, and both encrypted."
  }
  assert {
    condition     = aws_eks_node_group.this.capacity_type == "SPOT" && aws_eks_node_group.this.instance_types == tolist(["m7g.large"]) && aws_eks_node_group.this.scaling_config[0].desired_size == 1
    error_message = "It is not one m7g.large on spot."
  }
  assert {
    condition     = aws_launch_template.this.block_device_mappings[0].ebs[0].volume_size == 50 && aws_launch_template.this.block_device_mappings[0].ebs[0].kms_key_id == var.volume.kms_key_arn
    error_message = "The volume is another."
  }
  assert {
    condition     = one(aws_eks_node_group.this.taint).key == "CriticalAddonsOnly" && aws_eks_node_group.this.labels["role"] == "system"
    error_message = "Labels or taints are lost."
  }
  assert {
    condition     = aws_launch_template.this.key_name == "ops" && aws_launch_template.this.metadata_options[0].http_put_response_hop_limit == 2
    error_message = "Key pair or hop limit are lost."
  }
}

run "at_least_one_node_to_begin_with" {
  command = plan
  variables { size = { min = 0 } }

  assert {
    condition     = aws_eks_node_group.this.scaling_config[0].desired_size == 1
    error_message = "CoreDNS has nowhere to run."
  }
}

run "an_autoscaler_is_kept_within_the_bounds" {
  command = plan
  variables {
    size            = { min = 2, max = 4 }
    autoscaled_size = 6
    update_config   = { max_unavailable_percentage = 33 }
  }

  assert {
    condition     = aws_eks_node_group.this.scaling_config[0].desired_size == 4 && aws_eks_node_group.this.update_config[0].max_unavailable_percentage == 33
    error_message = "AWS would refuse a maximum below the number of nodes, or it is not a third of the nodes at a time."
  }
}

run "an_image_for_accelerators_is_refused" {
  command = plan
  variables { ami_type = "AL2023_x86_64_NVIDIA" }
  expect_failures = [var.ami_type]
}

run "no_type_is_refused" {
  command = plan
  variables { instance_types = [] }
  expect_failures = [var.instance_types]
}

run "an_unknown_capacity_is_refused" {
  command = plan
  variables { capacity_type = "ON_DEMAND" }
  expect_failures = [var.capacity_type]
}

run "min_above_max_is_refused" {
  command = plan
  variables { size = { min = 9 } }
  expect_failures = [var.size]
}

run "desired_above_max_is_refused" {
  command = plan
  variables { size = { desired = 9 } }
  expect_failures = [var.size]
}

run "a_volume_too_small_is_refused" {
  command = plan
  variables { volume = { size = 8 } }
  expect_failures = [var.volume]
}

run "more_than_gp3_has_is_refused" {
  command = plan
  variables { volume = { throughput = 2000 } }
  expect_failures = [var.volume]
}

run "an_unknown_effect_is_refused" {
  command = plan
  variables { taints = [{ key = "a", effect = "NoSchedule" }] }
  expect_failures = [var.taints]
}

run "a_hop_limit_too_far_is_refused" {
  command = plan
  variables { metadata_hop_limit = 3 }
  expect_failures = [var.metadata_hop_limit]
}

run "one_or_a_share_of_the_nodes" {
  command = plan
  variables { update_config = { max_unavailable = 1, max_unavailable_percentage = 50 } }
  expect_failures = [var.update_config]
}

run "no_node_at_a_time_is_refused" {
  command = plan
  variables { update_config = { max_unavailable = 0 } }
  expect_failures = [var.update_config]
}
