mock_provider "aws" {
  source          = "../../mocks"
  override_during = plan
}

variables {
  cluster_name = "demo"
  cluster_arn  = "arn:aws:eks:us-west-2:123456789012:cluster/demo"
}

run "defaults" {
  command = plan

  assert {
    condition     = aws_eks_access_entry.node.type == "EC2_LINUX" && aws_eks_access_entry.node.principal_arn == aws_iam_role.node.arn
    error_message = "Nodes that Karpenter makes could not join."
  }
  assert {
    condition     = toset(keys(aws_iam_role_policy_attachment.node)) == toset(["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"])
    error_message = "Nodes may do something else than they need."
  }
  assert {
    condition     = toset(keys(aws_cloudwatch_event_rule.interruptions)) == toset(["spot-interruption", "rebalance", "state-change", "reservation", "health"]) && length(aws_cloudwatch_event_target.interruptions) == 5
    error_message = "Karpenter does not hear of every interruption."
  }
  assert {
    condition     = aws_sqs_queue.interruptions.sqs_managed_sse_enabled && jsondecode(aws_sqs_queue_policy.interruptions.policy).Statement[1].Effect == "Deny"
    error_message = "The queue is not encrypted, or can be used without TLS."
  }
  assert {
    condition     = length([for statement in local.controller_statements : statement if contains(statement.resources, "*") && length(statement.conditions) == 0]) == 1
    error_message = "More than prices and names of profiles can be had of everything."
  }
  assert {
    condition = alltrue([
      for statement in local.controller_statements : length(statement.conditions) > 0
      if length(setintersection(statement.actions, ["ec2:TerminateInstances", "ec2:CreateTags", "iam:PassRole", "iam:DeleteInstanceProfile"])) > 0
    ])
    error_message = "The controller may touch what is not the cluster's."
  }
  # An inline policy has at most 10,240 characters.
  assert {
    condition     = length(jsonencode(local.controller_statements)) < 9000
    error_message = "The policy of the controller does not fit into a role."
  }
  assert {
    condition     = output.service_account == "karpenter" && output.namespace == "kube-system" && output.queue == "demo-interruptions"
    error_message = "The outputs are others."
  }
}

run "options" {
  command = plan
  variables {
    namespace        = "karpenter"
    service_account  = "controller"
    node_policy_arns = { logs = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy" }
  }

  assert {
    condition     = aws_iam_role_policy_attachment.node["logs"].policy_arn == "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy" && output.namespace == "karpenter" && output.service_account == "controller"
    error_message = "The options are lost."
  }
}

run "a_name_is_no_policy" {
  command = plan
  variables { node_policy_arns = { logs = "CloudWatchAgentServerPolicy" } }
  expect_failures = [var.node_policy_arns]
}
