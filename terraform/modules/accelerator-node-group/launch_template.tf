locals {
  # One EFA a card. The first card's carries IP too, EFA-only interfaces cannot be primary; where a type has a card more than
  # EFAs (p6-b300) the first is plain Ethernet.
  most  = coalesce(local.type.efa_maximum_interfaces, 0)
  efas  = var.efa.enabled ? coalesce(var.efa.interfaces, local.most) : 0
  cards = var.efa.enabled ? local.type.maximum_network_cards : 0
  plain = local.cards > local.most ? 1 : 0
  interfaces = [
    for card in range(min(local.cards, local.efas + local.plain)) : {
      card   = card
      device = card == 0 ? 0 : 1
      type   = card < local.plain ? "interface" : card == 0 || !var.efa.efa_only ? "efa" : "efa-only"
    }
  ]

  # Bottlerocket has its system on the first volume, images and containers on the second.
  volumes = concat(
    [merge(var.volume, { device = var.os == "bottlerocket" ? "/dev/xvdb" : "/dev/xvda" })],
    [for device in var.os == "bottlerocket" ? ["/dev/xvda"] : [] : { device = device, size = null, iops = null, throughput = null }],
  )

  # Every change of the template replaces all nodes of the group, so only tags that never change are in it.
  tags = { Name = "${var.cluster_name}-${var.name}", "mlops.eks/cluster" = var.cluster_name }

  # A pod that needs the file system must not start on a node before its driver; the driver removes the taint.
  # The kubelet sets it once, when the node joins: EKS would set a taint of the group again after the driver removed it.
  startup_taints = [for driver in sort(var.csi_drivers) : "${driver}.csi.aws.com/agent-not-ready"]

  node_config = {
    for key, value in {
      instance = var.instance_store == "raid0" ? { localStorage = { strategy = "RAID0" } } : null
      kubelet = length(local.startup_taints) == 0 ? null : {
        flags = ["--register-with-taints=${join(",", [for taint in local.startup_taints : "${taint}:NoExecute"])}"]
      }
    } : key => value if value != null
  }
  # EKS adds its own part, with the cluster's address, to this.
  nodeadm      = <<-EOT
    MIME-Version: 1.0
    Content-Type: multipart/mixed; boundary="//"

    --//
    Content-Type: application/node.eks.aws

    ${yamlencode({ apiVersion = "node.eks.aws/v1alpha1", kind = "NodeConfig", spec = local.node_config })}
    --//--
  EOT
  bottlerocket = join("\n", concat(["[settings.kubernetes.node-taints]"], [for taint in local.startup_taints : "\"${taint}\" = [\":NoExecute\"]"], [""]))

  user_data = {
    al2023       = length(local.node_config) > 0 ? local.nodeadm : null
    bottlerocket = length(local.startup_taints) > 0 ? local.bottlerocket : null
  }[var.os]
}

resource "aws_launch_template" "this" {
  name_prefix            = "${var.cluster_name}-${var.name}-"
  update_default_version = true
  # EKS requires the instance type of a capacity block here and nowhere else.
  instance_type = var.capacity.type == "capacity_block" ? var.instance_type : null
  key_name      = var.key_pair
  user_data     = local.user_data == null ? null : base64encode(local.user_data)

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
    http_put_response_hop_limit = 1
    instance_metadata_tags      = "disabled"
  }

  # EKS assigns the cluster's group by itself, but not to interfaces that the template describes.
  dynamic "network_interfaces" {
    for_each = local.interfaces

    content {
      network_card_index    = network_interfaces.value.card
      device_index          = network_interfaces.value.device
      interface_type        = network_interfaces.value.type
      security_groups       = [var.cluster_security_group_id, var.efa_security_group_id]
      delete_on_termination = true
    }
  }

  dynamic "placement" {
    for_each = aws_placement_group.this

    content {
      group_name = placement.value.name
    }
  }

  dynamic "capacity_reservation_specification" {
    for_each = toset(contains(["reserved", "capacity_block"], var.capacity.type) ? ["this"] : [])

    content {
      capacity_reservation_target {
        capacity_reservation_id                 = var.capacity.reservation_id
        capacity_reservation_resource_group_arn = var.capacity.reservation_group
      }
    }
  }

  dynamic "instance_market_options" {
    for_each = toset(var.capacity.type == "capacity_block" ? ["capacity-block"] : [])

    content {
      market_type = instance_market_options.key
    }
  }

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

    precondition {
      condition     = local.efas <= local.most
      error_message = "efa.interfaces: ${local.efas}, but ${var.instance_type} has ${local.most}."
    }
  }
}
