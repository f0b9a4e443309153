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

run "defaults" {
  command = plan

  assert {
    condition     = aws_eks_node_group.this.ami_type == "AL2023_x86_64_NVIDIA" && aws_eks_node_group.this.capacity_type == "ON_DEMAND" && aws_eks_node_group.this.scaling_config[0].min_size == 0
    error_message = "It is not an empty group of NVIDIA nodes on demand."
  }
  assert {
    condition     = [for taint in aws_eks_node_group.this.taint : taint.key] == ["nvidia.com/gpu"]
    error_message = "Pods that need no GPU would be scheduled, or others kept away by a taint that nothing takes off."
  }
  assert {
    condition     = length(aws_launch_template.this.network_interfaces) == 0 && length(aws_placement_group.this) == 0 && aws_launch_template.this.user_data == null
    error_message = "There are interfaces, a placement group or user data nobody asked for."
  }
  assert {
    condition     = aws_launch_template.this.block_device_mappings[0].ebs[0].encrypted == "true" && aws_launch_template.this.metadata_options[0].http_tokens == "required"
    error_message = "The volume is not encrypted, or metadata can be had without a token."
  }
  assert {
    condition     = aws_launch_template.this.metadata_options[0].instance_metadata_tags == "disabled"
    error_message = "EC2 would not launch instances that have tags of Kubernetes."
  }
  assert {
    condition     = aws_eks_node_group.this.instance_types == tolist(["p5.48xlarge"]) && aws_launch_template.this.instance_type == null
    error_message = "The type is not said once."
  }
  assert {
    condition     = output.accelerator == "nvidia" && output.efa_interfaces == 0 && output.placement_group == null && output.name == "mock-20260101"
    error_message = "The outputs are others."
  }
}

run "efa_on_every_card" {
  command = plan
  variables {
    efa             = { enabled = true }
    placement_group = true
  }

  assert {
    condition     = length(aws_launch_template.this.network_interfaces) == 32 && output.efa_interfaces == 32
    error_message = "Not every card has EFA."
  }
  assert {
    condition     = aws_launch_template.this.network_interfaces[0].interface_type == "efa" && aws_launch_template.this.network_interfaces[0].device_index == 0
    error_message = "The first interface has no IP."
  }
  assert {
    condition     = aws_launch_template.this.network_interfaces[31].interface_type == "efa-only" && aws_launch_template.this.network_interfaces[31].device_index == 1 && aws_launch_template.this.network_interfaces[31].network_card_index == 31
    error_message = "The last interface is not EFA only."
  }
  assert {
    condition     = aws_launch_template.this.network_interfaces[7].security_groups == toset(["sg-cluster", "sg-efa"])
    error_message = "EFA's traffic would not be let through."
  }
  assert {
    condition     = aws_launch_template.this.placement[0].group_name == "demo-p5" && aws_placement_group.this["this"].strategy == "cluster"
    error_message = "The nodes do not stand together."
  }
}

run "efa_with_ip_on_some_cards" {
  command = plan
  variables { efa = { enabled = true, interfaces = 4, efa_only = false } }

  assert {
    condition     = [for interface in aws_launch_template.this.network_interfaces : interface.interface_type] == ["efa", "efa", "efa", "efa"]
    error_message = "It is not EFA with IP on four cards."
  }
}

run "a_card_more_than_efas" {
  command = plan
  variables {
    instance_type = "p6-b300.48xlarge"
    efa           = { enabled = true }
  }

  override_data {
    target = data.aws_ec2_instance_type.this
    values = { efa_supported = true, efa_maximum_interfaces = 16, maximum_network_cards = 17 }
  }

  assert {
    condition     = length(aws_launch_template.this.network_interfaces) == 17 && aws_launch_template.this.network_interfaces[0].interface_type == "interface" && output.efa_interfaces == 16
    error_message = "The first card is not plain Ethernet."
  }
}

run "neuron" {
  command = plan
  variables { instance_type = "trn2.48xlarge" }

  override_data {
    target = data.aws_ec2_instance_type.this
    values = { gpus = [], neuron_devices = [{ count = 16, name = "Trainium2", core_info = [], memory_size = 98304 }] }
  }

  assert {
    condition     = aws_eks_node_group.this.ami_type == "AL2023_x86_64_NEURON" && contains([for taint in aws_eks_node_group.this.taint : taint.key], "aws.amazon.com/neuron")
    error_message = "They are no Neuron nodes."
  }
}

run "no_accelerator" {
  command = plan
  variables {
    instance_type = "hpc7g.16xlarge"
    os            = "bottlerocket"
  }

  override_data {
    target = data.aws_ec2_instance_type.this
    values = { gpus = [], supported_architectures = ["arm64"] }
  }

  assert {
    condition     = aws_eks_node_group.this.ami_type == "BOTTLEROCKET_ARM_64" && length(aws_eks_node_group.this.taint) == 0 && output.accelerator == "none"
    error_message = "They are no plain Bottlerocket nodes."
  }
  assert {
    condition     = [for volume in aws_launch_template.this.block_device_mappings : "${volume.device_name} ${volume.ebs[0].encrypted}"] == ["/dev/xvdb true", "/dev/xvda true"]
    error_message = "Containers are not on Bottlerocket's second volume, or one of the two is not encrypted."
  }
}

run "reserved" {
  command = plan
  variables { capacity = { type = "reserved", reservation_group = "arn:aws:resource-groups:us-west-2:123456789012:group/p5" } }

  assert {
    condition     = aws_launch_template.this.capacity_reservation_specification[0].capacity_reservation_target[0].capacity_reservation_resource_group_arn == var.capacity.reservation_group
    error_message = "The reservation is not used."
  }
  assert {
    condition     = length(aws_launch_template.this.instance_market_options) == 0 && aws_eks_node_group.this.capacity_type == "ON_DEMAND"
    error_message = "A reservation is on-demand capacity."
  }
}

run "capacity_block" {
  command = plan
  variables { capacity = { type = "capacity_block", reservation_id = "cr-0123456789abcdef0" } }

  assert {
    condition     = aws_launch_template.this.instance_market_options[0].market_type == "capacity-block" && aws_eks_node_group.this.capacity_type == "CAPACITY_BLOCK"
    error_message = "It is no capacity block."
  }
  assert {
    condition     = aws_launch_template.this.capacity_reservation_specification[0].capacity_reservation_target[0].capacity_reservation_id == "cr-0123456789abcdef0"
    error_message = "The block is not used."
  }
  assert {
    condition     = aws_launch_template.this.instance_type == "p5.48xlarge"
    error_message = "EKS refuses a capacity block whose type the template does not say."
  }
}

run "options" {
  command = plan
  variables {
    release_version = "1.35.0-20260120"
    capacity        = { type = "spot" }
    size            = { min = 1, max = 4, desired = 2 }
    instance_store  = "raid0"
    volume          = { size = 500, iops = 10000, throughput = 1000, kms_key_arn = "arn:aws:kms:us-west-2:123456789012:key/1234" }
    labels          = { pool = "p5" }
    taints          = [{ key = "team", value = "llm", effect = "NO_SCHEDULE" }]
    key_pair        = "ops"
  }

  assert {
    condition     = strcontains(base64decode(aws_launch_template.this.user_data), "\"strategy\": \"RAID0\"")
    error_message = "The local disks stay unused."
  }
  assert {
    condition     = aws_eks_node_group.this.capacity_type == "SPOT" && aws_eks_node_group.this.scaling_config[0].desired_size == 2 && aws_eks_node_group.this.release_version == "1.35.0-20260120"
    error_message = "It is not two nodes on spot of that image."
  }
  assert {
    condition     = contains([for taint in aws_eks_node_group.this.taint : taint.key], "team") && aws_eks_node_group.this.labels["pool"] == "p5" && aws_launch_template.this.key_name == "ops"
    error_message = "Taint, label or key pair are lost."
  }
  assert {
    condition     = aws_launch_template.this.block_device_mappings[0].ebs[0].iops == 10000 && aws_launch_template.this.block_device_mappings[0].ebs[0].kms_key_id == var.volume.kms_key_arn
    error_message = "The volume is another."
  }
}
