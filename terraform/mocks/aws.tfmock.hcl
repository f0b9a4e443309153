# What the tests let AWS answer: values that have to be of a certain form; all others are made up by `terraform test`.

mock_data "aws_partition" {
  defaults = { partition = "aws" }
}
mock_data "aws_region" {
  defaults = { name = "us-west-2" }
}
mock_data "aws_caller_identity" {
  defaults = { account_id = "123456789012" }
}
mock_data "aws_autoscaling_groups" {
  defaults = { names = [] }
}
mock_data "aws_vpc" {
  defaults = { cidr_block = "10.0.0.0/16", enable_dns_hostnames = true, enable_dns_support = true }
}
mock_data "aws_route_tables" {
  defaults = { ids = ["rtb-0123456789abcdef0"] }
}
mock_data "aws_eks_addon_version" {
  defaults = { version = "v1.2.3-eksbuild.1" }
}
mock_data "aws_ec2_instance_type" {
  defaults = {
    efa_supported                  = true
    efa_maximum_interfaces         = 32
    maximum_network_cards          = 32
    supported_architectures        = ["x86_64"]
    supported_placement_strategies = ["cluster", "partition", "spread"]
    gpus                           = [{ count = 8, manufacturer = "NVIDIA", memory_size = 81920, name = "H100" }]
    neuron_devices                 = []
    inference_accelerators         = []
  }
}

mock_resource "aws_security_group" {
  defaults = { id = "sg-0123456789abcdef0" }
}
mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::123456789012:role/mock" }
}
mock_resource "aws_iam_openid_connect_provider" {
  defaults = { arn = "arn:aws:iam::123456789012:oidc-provider/mock" }
}
mock_resource "aws_kms_key" {
  defaults = { arn = "arn:aws:kms:us-west-2:123456789012:key/mock", key_id = "mock" }
}
mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:us-west-2:123456789012:log-group:mock" }
}
mock_resource "aws_sqs_queue" {
  defaults = { arn = "arn:aws:sqs:us-west-2:123456789012:mock", url = "https://sqs.us-west-2.amazonaws.com/123456789012/mock" }
}
mock_resource "aws_efs_file_system" {
  defaults = { arn = "arn:aws:elasticfilesystem:us-west-2:123456789012:file-system/fs-0123456789abcdef0" }
}
mock_resource "aws_fsx_lustre_file_system" {
  defaults = { id = "fs-0123456789abcdef1", arn = "arn:aws:fsx:us-west-2:123456789012:file-system/fs-0123456789abcdef1" }
}
mock_resource "aws_eks_cluster" {
  defaults = {
    arn                   = "arn:aws:eks:us-west-2:123456789012:cluster/mock"
    endpoint              = "https://mock.eks.amazonaws.com"
    certificate_authority = [{ data = "LS0tLS1CRUdJTg==" }]
    identity              = [{ oidc = [{ issuer = "https://oidc.eks.us-west-2.amazonaws.com/id/mock" }] }]
  }
}
mock_resource "aws_eks_node_group" {
  defaults = {
    id        = "demo:mock-20260101"
    resources = [{ autoscaling_groups = [{ name = "eks-mock" }], remote_access_security_group_id = "" }]
  }
}
mock_resource "aws_launch_template" {
  defaults = { id = "lt-0123456789abcdef0", latest_version = 1 }
}
