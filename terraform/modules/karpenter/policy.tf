# The controller may create and remove only resources with the cluster's tags. The statements follow Karpenter's reference
# for version 1.14.

locals {
  owned     = "kubernetes.io/cluster/${var.cluster_name}"
  ec2       = "arn:${local.partition}:ec2:${local.region}"
  instances = ["fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request"]
  profiles  = "arn:${local.partition}:iam::${local.account}:instance-profile/*"

  made_for_the_cluster = {
    "aws:RequestTag/${local.owned}"       = ["owned"]
    "aws:RequestTag/eks:eks-cluster-name" = [var.cluster_name]
  }
  owned_by_a_pool = {
    StringEquals = { "aws:ResourceTag/${local.owned}" = ["owned"] }
    StringLike   = { "aws:ResourceTag/karpenter.sh/nodepool" = ["*"] }
  }
  profile_of_the_cluster = {
    "aws:ResourceTag/${local.owned}"                = ["owned"]
    "aws:ResourceTag/topology.kubernetes.io/region" = [local.region]
  }
  profile_made_for_the_cluster = merge(local.made_for_the_cluster, {
    "aws:RequestTag/topology.kubernetes.io/region" = [local.region]
  })

  controller_statements = concat(local.instance_statements, local.profile_statements, local.read_statements)

  instance_statements = [
    {
      actions = ["ec2:RunInstances", "ec2:CreateFleet"]
      resources = concat(
        ["${local.ec2}::image/*", "${local.ec2}::snapshot/*"],
        [for kind in ["security-group", "subnet", "capacity-reservation", "placement-group"] : "${local.ec2}:*:${kind}/*"],
      )
      conditions = {}
    },
    {
      actions    = ["ec2:RunInstances", "ec2:CreateFleet"]
      resources  = ["${local.ec2}:*:launch-template/*"]
      conditions = local.owned_by_a_pool
    },
    {
      actions   = ["ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"]
      resources = [for kind in local.instances : "${local.ec2}:*:${kind}/*"]
      conditions = {
        StringEquals = local.made_for_the_cluster
        StringLike   = { "aws:RequestTag/karpenter.sh/nodepool" = ["*"] }
      }
    },
    {
      actions   = ["ec2:CreateTags"]
      resources = [for kind in local.instances : "${local.ec2}:*:${kind}/*"]
      conditions = {
        StringEquals = merge(local.made_for_the_cluster, { "ec2:CreateAction" = ["RunInstances", "CreateFleet", "CreateLaunchTemplate"] })
        StringLike   = { "aws:RequestTag/karpenter.sh/nodepool" = ["*"] }
      }
    },
    {
      actions   = ["ec2:CreateTags"]
      resources = ["${local.ec2}:*:instance/*"]
      conditions = merge(local.owned_by_a_pool, {
        StringEqualsIfExists        = { "aws:RequestTag/eks:eks-cluster-name" = [var.cluster_name] }
        "ForAllValues:StringEquals" = { "aws:TagKeys" = ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"] }
      })
    },
    {
      actions    = ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"]
      resources  = ["${local.ec2}:*:instance/*", "${local.ec2}:*:launch-template/*"]
      conditions = local.owned_by_a_pool
    },
  ]

  profile_statements = [
    {
      actions    = ["iam:PassRole"]
      resources  = [aws_iam_role.node.arn]
      conditions = { StringEquals = { "iam:PassedToService" = ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"] } }
    },
    {
      actions   = ["iam:CreateInstanceProfile"]
      resources = [local.profiles]
      conditions = {
        StringEquals = local.profile_made_for_the_cluster
        StringLike   = { "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass" = ["*"] }
      }
    },
    {
      actions   = ["iam:TagInstanceProfile"]
      resources = [local.profiles]
      conditions = {
        StringEquals = merge(local.profile_of_the_cluster, local.profile_made_for_the_cluster)
        StringLike = {
          "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass" = ["*"]
          "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass"  = ["*"]
        }
      }
    },
    {
      actions   = ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"]
      resources = [local.profiles]
      conditions = {
        StringEquals = local.profile_of_the_cluster
        StringLike   = { "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass" = ["*"] }
      }
    },
  ]

  read_statements = [
    {
      actions = [
        for what in [
          "CapacityReservations", "Images", "Instances", "InstanceStatus", "InstanceTypeOfferings", "InstanceTypes", "LaunchTemplates",
          "PlacementGroups", "SecurityGroups", "SpotPriceHistory", "Subnets",
        ] : "ec2:Describe${what}"
      ]
      resources  = ["*"]
      conditions = { StringEquals = { "aws:RequestedRegion" = [local.region] } }
    },
    { actions = ["ssm:GetParameter"], resources = ["arn:${local.partition}:ssm:${local.region}::parameter/aws/service/*"], conditions = {} },
    { actions = ["pricing:GetProducts", "iam:ListInstanceProfiles"], resources = ["*"], conditions = {} },
    { actions = ["iam:GetInstanceProfile"], resources = [local.profiles], conditions = {} },
    { actions = ["eks:DescribeCluster"], resources = [var.cluster_arn], conditions = {} },
    {
      actions    = ["arc-zonal-shift:GetManagedResource"]
      resources  = ["*"]
      conditions = { StringEquals = { "arc-zonal-shift:ResourceIdentifier" = [var.cluster_arn] } }
    },
    {
      actions    = ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"]
      resources  = [aws_sqs_queue.interruptions.arn]
      conditions = {}
    },
  ]
}
