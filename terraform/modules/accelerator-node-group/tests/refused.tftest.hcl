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

run "efa_on_a_type_without_is_refused" {
  command = plan
  variables {
    instance_type = "g5.xlarge"
    efa           = { enabled = true }
  }

  override_data {
    target = data.aws_ec2_instance_type.this
    values = { efa_supported = false, efa_maximum_interfaces = 0, maximum_network_cards = 1 }
  }
  expect_failures = [data.aws_ec2_instance_type.this]
}

run "a_placement_group_for_a_type_that_cannot_is_refused" {
  command = plan
  variables {
    instance_type   = "t3.large"
    placement_group = true
  }

  override_data {
    target = data.aws_ec2_instance_type.this
    values = { supported_placement_strategies = ["partition", "spread"] }
  }
  expect_failures = [data.aws_ec2_instance_type.this]
}

run "more_efas_than_there_are_is_refused" {
  command = plan
  variables { efa = { enabled = true, interfaces = 33 } }
  expect_failures = [aws_launch_template.this]
}

run "efa_in_two_zones_is_refused" {
  command = plan
  variables {
    efa        = { enabled = true }
    subnet_ids = ["subnet-a", "subnet-b"]
  }
  expect_failures = [aws_eks_node_group.this]
}

run "an_image_that_is_not_is_refused" {
  command = plan
  variables { instance_type = "trn9g.48xlarge" }

  override_data {
    target = data.aws_ec2_instance_type.this
    values = { gpus = [], supported_architectures = ["arm64"] }
  }
  expect_failures = [aws_eks_node_group.this]
}

run "a_name_with_a_dot_is_refused" {
  command = plan
  variables { name = "p5.48xlarge" }
  expect_failures = [var.name]
}

run "no_subnet_is_refused" {
  command = plan
  variables { subnet_ids = [] }
  expect_failures = [var.subnet_ids]
}

run "a_family_is_no_type" {
  command = plan
  variables { instance_type = "p5" }
  expect_failures = [var.instance_type]
}

run "an_unknown_os_is_refused" {
  command = plan
  variables { os = "al2" }
  expect_failures = [var.os]
}

run "an_unknown_capacity_is_refused" {
  command = plan
  variables { capacity = { type = "ON_DEMAND" } }
  expect_failures = [var.capacity]
}

run "a_capacity_block_needs_its_id" {
  command = plan
  variables { capacity = { type = "capacity_block" } }
  expect_failures = [var.capacity]
}

run "a_reservation_has_a_form" {
  command = plan
  variables { capacity = { type = "reserved", reservation_id = "p5" } }
  expect_failures = [var.capacity]
}

run "min_above_max_is_refused" {
  command = plan
  variables { size = { min = 33 } }
  expect_failures = [var.size]
}

run "desired_above_max_is_refused" {
  command = plan
  variables { size = { desired = 33 } }
  expect_failures = [var.size]
}

run "interfaces_need_efa" {
  command = plan
  variables { efa = { interfaces = 4 } }
  expect_failures = [var.efa]
}

run "an_unknown_instance_store_is_refused" {
  command = plan
  variables { instance_store = "raid1" }
  expect_failures = [var.instance_store]
}

run "raid0_on_bottlerocket_is_refused" {
  command = plan
  variables {
    instance_store = "raid0"
    os             = "bottlerocket"
  }
  expect_failures = [var.instance_store]
}

run "a_volume_too_small_is_refused" {
  command = plan
  variables { volume = { size = 20 } }
  expect_failures = [var.volume]
}

run "more_than_gp3_has_is_refused" {
  command = plan
  variables { volume = { iops = 100 } }
  expect_failures = [var.volume]
}

run "an_unknown_effect_is_refused" {
  command = plan
  variables { taints = [{ key = "a", effect = "NoSchedule" }] }
  expect_failures = [var.taints]
}

run "a_placement_group_for_a_capacity_block_is_refused" {
  command = plan
  variables {
    placement_group = true
    capacity        = { type = "capacity_block", reservation_id = "cr-0123456789abcdef0" }
  }
  expect_failures = [var.placement_group]
}

run "a_driver_that_needs_no_taint_is_refused" {
  command = plan
  variables { csi_drivers = ["ebs"] }
  expect_failures = [var.csi_drivers]
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
