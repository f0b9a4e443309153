# EC2 announces spot interruptions (two minutes ahead) and other planned stops of instances; this queue passes them to Karpenter.

locals {
  events = {
    spot-interruption = { source = "aws.ec2", detail-type = "EC2 Spot Instance Interruption Warning" }
    rebalance         = { source = "aws.ec2", detail-type = "EC2 Instance Rebalance Recommendation" }
    state-change      = { source = "aws.ec2", detail-type = "EC2 Instance State-change Notification" }
    reservation       = { source = "aws.ec2", detail-type = "EC2 Capacity Reservation Instance Interruption Warning" }
    health            = { source = "aws.health", detail-type = "AWS Health Event" }
  }
}

resource "aws_sqs_queue" "interruptions" {
  name                      = "${var.cluster_name}-interruptions"
  message_retention_seconds = 300
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "interruptions" {
  queue_url = aws_sqs_queue.interruptions.url
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Principal = { Service = ["events.amazonaws.com", "sqs.amazonaws.com"] }
        Action    = "sqs:SendMessage"
        Resource  = aws_sqs_queue.interruptions.arn
      },
      {
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = aws_sqs_queue.interruptions.arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_cloudwatch_event_rule" "interruptions" {
  for_each = local.events

  name          = "${var.cluster_name}-${each.key}"
  description   = "Tells Karpenter of ${var.cluster_name}: ${each.value.detail-type}"
  event_pattern = jsonencode({ source = [each.value.source], detail-type = [each.value.detail-type] })
}

resource "aws_cloudwatch_event_target" "interruptions" {
  for_each = local.events

  rule = aws_cloudwatch_event_rule.interruptions[each.key].name
  arn  = aws_sqs_queue.interruptions.arn
  # Without it the provider generates one that no plan knows, and the target of a killed run could not be imported.
  target_id = "karpenter"
}
