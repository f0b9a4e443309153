# Nodes for cluster services: CoreDNS, operators, Karpenter.

locals {
  # Bottlerocket has its system on the first volume, images and containers on the second.
  bottlerocket = startswith(var.ami_type, "BOTTLEROCKET")
  volumes = concat(
    [merge(var.volume, { device = local.bottlerocket ? "/dev/xvdb" : "/dev/xvda" })],
    [for device in local.bottlerocket ? ["/dev/xvda"] : [] : { device = device, size = null, iops = null, throughput = null }],
  )

  # Every change of the template replaces all nodes of the group, so only tags that never change are in it.
  tags = { Name = "${var.cluster_name}-${var.name}", "mlops.eks/cluster" = var.cluster_name }

  # Keep an autoscaler's number within the bounds: AWS refuses a minimum above it, and a maximum below it.
  desired = var.autoscaled_size == null ? coalesce(var.size.desired, max(var.size.min, 1)) : max(var.size.min, min(var.size.max, var.autoscaled_size))
}

resource "aws_launch_template" "this" {
  name_prefix            = "${var.cluster_name}-${var.name}-"
  update_default_version = true
  key_name               = var.key_pair

  dynamic "block_device_mappings" {
    for_each = local.volumes

    content {
      device_name = block_device_mappings.value.device

      ebs {
        volume_type           = "gp3"
        volume_size           = block_device_mappings.value.size
        iops                  = block_device_mappings.value.iops
        throughput            = block_device_mappings.value.throughput
        encrypted             = true
        kms_key_id            = var.volume.kms_key_arn
        delete_on_termination = true
      }
    }
  }

  # EC2 refuses to launch instances whose metadata shows tags with a slash, as Kubernetes' and ours have; an account may show tags by default.
  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = var.metadata_hop_limit
    instance_metadata_tags      = "disabled"
  }

  # The provider tags its own resources, not those that EC2 creates from the template.
  dynamic "tag_specifications" {
    for_each = toset(["instance", "volume", "network-interface"])

    content {
      resource_type = tag_specifications.key
      tags          = local.tags
    }
  }

  lifecycle {
    # For the provider a change of the template's own tags is a new version too, so the tags never change.
    ignore_changes = [tags, tags_all]
  }
}

resource "aws_eks_node_group" "this" {
  cluster_name           = var.cluster_name
  node_group_name_prefix = "${var.name}-"
  node_role_arn          = var.node_role_arn
  subnet_ids             = var.subnet_ids
  version                = var.kubernetes_version
  release_version        = var.release_version
  ami_type               = var.ami_type
  instance_types         = var.instance_types
  capacity_type          = upper(var.capacity_type)
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
    for_each = var.taints

    content {
      key    = taint.value.key
      value  = taint.value.value
      effect = taint.value.effect
    }
  }

  lifecycle {
    create_before_destroy = true
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
