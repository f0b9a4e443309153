# Nodes of one instance type for training and inference: image, taint and network interfaces follow from EC2's description of the type.

data "aws_ec2_instance_type" "this" {
  instance_type = var.instance_type

  lifecycle {
    postcondition {
      condition     = !var.efa.enabled || self.efa_supported
      error_message = "efa.enabled: ${var.instance_type} has no EFA; choose a type that has, or switch it off."
    }
    postcondition {
      condition     = !var.placement_group || contains(self.supported_placement_strategies, "cluster")
      error_message = "placement_group: ${var.instance_type} cannot be in a cluster placement group; set it to false."
    }
  }
}

locals {
  type = data.aws_ec2_instance_type.this

  accelerator = (
    length([for gpu in local.type.gpus : gpu if gpu.manufacturer == "NVIDIA"]) > 0 ? "nvidia" :
    length(local.type.neuron_devices) + length(local.type.inference_accelerators) > 0 || can(regex("^(trn|inf)", var.instance_type)) ? "neuron" :
    "none"
  )
  architecture = contains(local.type.supported_architectures, "arm64") ? "arm64" : "x86_64"

  image = "${var.os} ${local.accelerator} ${local.architecture}"
  ami_types = {
    "al2023 nvidia x86_64"       = "AL2023_x86_64_NVIDIA"
    "al2023 nvidia arm64"        = "AL2023_ARM_64_NVIDIA"
    "al2023 neuron x86_64"       = "AL2023_x86_64_NEURON"
    "al2023 none x86_64"         = "AL2023_x86_64_STANDARD"
    "al2023 none arm64"          = "AL2023_ARM_64_STANDARD"
    "bottlerocket nvidia x86_64" = "BOTTLEROCKET_x86_64_NVIDIA"
    "bottlerocket nvidia arm64"  = "BOTTLEROCKET_ARM_64_NVIDIA"
    "bottlerocket neuron x86_64" = "BOTTLEROCKET_x86_64"
    "bottlerocket none x86_64"   = "BOTTLEROCKET_x86_64"
    "bottlerocket none arm64"    = "BOTTLEROCKET_ARM_64"
  }

  accelerator_taints = {
    nvidia = [{ key = "nvidia.com/gpu", value = "true", effect = "NO_SCHEDULE" }]
    neuron = [{ key = "aws.amazon.com/neuron", value = "true", effect = "NO_SCHEDULE" }]
    none   = []
  }[local.accelerator]
  # In one zone, because the scheduler could otherwise place pods of one job in several zones.
  one_zone = var.efa.enabled || var.placement_group || startswith(var.capacity.type, "reserved") || var.capacity.type == "capacity_block"

  # Keep an autoscaler's number within the bounds: AWS refuses a minimum above it, and a maximum below it.
  desired = var.autoscaled_size == null ? coalesce(var.size.desired, var.size.min) : max(var.size.min, min(var.size.max, var.autoscaled_size))
}

resource "aws_placement_group" "this" {
  for_each = toset(var.placement_group ? ["this"] : [])

  name     = "${var.cluster_name}-${var.name}"
  strategy = "cluster"
}

resource "aws_eks_node_group" "this" {
  cluster_name           = var.cluster_name
  node_group_name_prefix = "${var.name}-"
  node_role_arn          = var.node_role_arn
  subnet_ids             = var.subnet_ids
  version                = var.kubernetes_version
  release_version        = var.release_version
  ami_type               = local.ami_types[local.image]
  instance_types         = var.capacity.type == "capacity_block" ? null : [var.instance_type]
  capacity_type          = { on_demand = "ON_DEMAND", spot = "SPOT", reserved = "ON_DEMAND", capacity_block = "CAPACITY_BLOCK" }[var.capacity.type]
  labels                 = var.labels

  launch_template {
    id      = aws_launch_template.this.id
    version = aws_launch_template.this.latest_version
  }

  scaling_config {
    min_size     = var.size.min
    max_size     = var.size.max
    desired_size = local.desired
  }

  update_config {
    max_unavailable            = var.update_config.max_unavailable_percentage == null ? coalesce(var.update_config.max_unavailable, 1) : null
    max_unavailable_percentage = var.update_config.max_unavailable_percentage
  }

  dynamic "taint" {
    for_each = concat(local.accelerator_taints, var.taints)

    content {
      key    = taint.value.key
      value  = taint.value.value
      effect = taint.value.effect
    }
  }

  lifecycle {
    precondition {
      condition     = contains(keys(local.ami_types), local.image)
      error_message = "os: EKS has no ${var.os} image for ${local.accelerator} on ${local.architecture} (${var.instance_type}); choose another."
    }
    precondition {
      condition     = !local.one_zone || length(var.subnet_ids) == 1
      error_message = "subnet_ids: ${length(var.subnet_ids)} for ${var.name}; with EFA, a placement group or a reservation all nodes must be in one zone, choose one."
    }
  }
}

# New nodes get these tags; existing nodes keep theirs. Volumes and interfaces have only the template's tags.
resource "aws_autoscaling_group_tag" "this" {
  for_each = { for key, value in var.tags : key => value if !contains(keys(local.tags), key) }

  autoscaling_group_name = aws_eks_node_group.this.resources[0].autoscaling_groups[0].name

  tag {
    key                 = each.key
    value               = each.value
    propagate_at_launch = true
  }
}
