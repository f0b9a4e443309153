mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  cluster_name              = "demo"
  name                      = "p5"
  kubernetes_version        = "1.35"
  node_role_arn             = "arn:aws:iam::123456789012:role/demo-node"
  subnet_ids                = ["subnet-a"]
  cluster_security_group_id = "sg-cluster"
  efa_security_group_id     = "sg-efa"
  instance_type             = "p5.48xlarge"
}

run "taints_until_the_drivers_run" {
  command = plan
  variables {
    csi_drivers    = ["fsx", "efs"]
    instance_store = "raid0"
  }

  assert {
    condition     = [for taint in aws_eks_node_group.this.taint : taint.key] == ["nvidia.com/gpu"]
    error_message = "EKS would set a taint again that a driver took away."
  }
  assert {
    condition = yamldecode(regex("(?s)node.eks.aws\n\n(.*)--//--", base64decode(aws_launch_template.this.user_data))[0]).spec == {
      instance = { localStorage = { strategy = "RAID0" } }
      kubelet  = { flags = ["--register-with-taints=efs.csi.aws.com/agent-not-ready:NoExecute,fsx.csi.aws.com/agent-not-ready:NoExecute"] }
    }
    error_message = "Pods would come before the drivers, or the local disks stay unused."
  }
}

run "taints_until_the_drivers_run_on_bottlerocket" {
  command = plan
  variables {
    csi_drivers = ["fsx", "efs"]
    os          = "bottlerocket"
  }

  assert {
    condition     = base64decode(aws_launch_template.this.user_data) == "[settings.kubernetes.node-taints]\n\"efs.csi.aws.com/agent-not-ready\" = [\":NoExecute\"]\n\"fsx.csi.aws.com/agent-not-ready\" = [\":NoExecute\"]\n"
    error_message = "Pods would come before the drivers."
  }
}

run "tags_that_change_are_not_in_the_template" {
  command = plan
  variables { tags = { team = "llm", Name = "mine" } }

  assert {
    condition     = alltrue([for made in aws_launch_template.this.tag_specifications : made.tags == tomap({ Name = "demo-p5", "mlops.eks/cluster" = "demo" })])
    error_message = "A change of a tag would replace all nodes."
  }
  assert {
    condition     = { for key, made in aws_autoscaling_group_tag.this : key => "${made.tag[0].value} ${made.tag[0].propagate_at_launch}" } == { team = "llm true" }
    error_message = "New nodes would not carry the tag."
  }
}

run "the_number_of_nodes_is_ours" {
  command = plan
  variables { size = { min = 2, max = 4 } }

  assert {
    condition     = aws_eks_node_group.this.scaling_config[0].desired_size == 2
    error_message = "AWS would refuse a minimum above the number of nodes."
  }
}

run "an_autoscaler_has_the_number_of_nodes" {
  command = plan
  variables {
    size            = { min = 2, max = 4, desired = 2 }
    autoscaled_size = 3
  }

  assert {
    condition     = aws_eks_node_group.this.scaling_config[0].desired_size == 3
    error_message = "The autoscaler's number is undone."
  }
}

run "an_autoscaler_is_kept_within_the_bounds" {
  command = plan
  variables {
    size            = { min = 2, max = 4 }
    autoscaled_size = 1
  }

  assert {
    condition     = aws_eks_node_group.this.scaling_config[0].desired_size == 2
    error_message = "AWS would refuse a minimum above the number of nodes."
  }
}

run "nodes_are_replaced_one_at_a_time" {
  command = plan

  assert {
    condition     = aws_eks_node_group.this.update_config[0].max_unavailable == 1
    error_message = "Several nodes would go at once."
  }
}

run "nodes_are_replaced_by_a_share" {
  command = plan
  variables { update_config = { max_unavailable_percentage = 25 } }

  assert {
    condition     = aws_eks_node_group.this.update_config[0].max_unavailable_percentage == 25 && aws_eks_node_group.this.update_config[0].max_unavailable == null
    error_message = "It is not a quarter of the nodes."
  }
}
