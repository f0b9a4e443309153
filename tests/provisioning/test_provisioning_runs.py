"""Nodes on which something runs are not taken away: Terraform and a fake EKS, and a real cluster that is asked."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from provisioning import Site, host, kill_at, log_in, words
from samples import gated
from space import Space, fresh

# Whatever else ran on the one node would keep it too, so it is a cluster that no other test uses at the same time.
pytestmark = pytest.mark.cluster

STACK = """
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}
variable "name" { type = string }
variable "region" { type = string }
variable "note" { type = string }
variable "subnet" { type = string }
variable "cluster" { type = map(string) }
provider "aws" { region = var.region }
resource "aws_launch_template" "this" {
  name_prefix = "demo-"
  tag_specifications {
    resource_type = "instance"
    tags          = { note = var.note }
  }
}
resource "aws_eks_node_group" "this" {
  cluster_name    = var.name
  node_group_name = var.name
  node_role_arn   = "arn:aws:iam::123456789012:role/node"
  subnet_ids      = [var.subnet]
  launch_template {
    id      = aws_launch_template.this.id
    version = aws_launch_template.this.latest_version
  }
  scaling_config {
    min_size     = 1
    desired_size = 1
    max_size     = 1
  }
}
output "handover" {
  value = { cluster = merge(var.cluster, { name = var.name, region = var.region, version = "1.35" }) }
}
"""


class Demo(t.NamedTuple):
    """The cluster of a Terraform stack, as AWS and as Kubernetes see it; both call its node group by the same name."""

    site: Site
    space: Space
    name: str
    variables: dict[str, t.Any]

    def ask(self, note: str) -> None:
        """Write what the stack shall be: another note is another launch template."""
        kubernetes = {"kubeconfig": f"clusters/{self.name}/kubeconfig", "kube_namespace": self.space.namespace}
        made = host({**self.variables, "note": note}, eks_cluster_source=str(self.site.directory / "stack"))
        self.site.inventory({self.name: made | kubernetes})

    def version(self) -> str:
        """Return the version of the launch template that the nodes are made of."""
        group = self.site.client("eks").describe_nodegroup(clusterName=self.name, nodegroupName=self.name)["nodegroup"]
        return str(group["launchTemplate"]["version"])


@pytest.fixture
def demo(site: Site, second_cluster: t.Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Demo]:
    """A cluster that has been made, whose one node is of a managed node group."""
    config = json.loads(Path(second_cluster.kubeconfig).read_text(encoding="utf-8"))
    server = config["clusters"][0]["cluster"]
    with fresh(second_cluster.kubeconfig, site.directory) as space:
        name = space.namespace
        log_in(site.directory, name, config["users"][0]["user"], monkeypatch)
        (site.directory / "stack").mkdir()
        (site.directory / "stack/main.tf").write_text(STACK, encoding="utf-8")
        subnet = site.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
        site.client("eks").create_cluster(
            name=name, version="1.35", roleArn="arn:aws:iam::123456789012:role/demo",
            resourcesVpcConfig={"subnetIds": [subnet]},
        )  # fmt: skip
        cluster = {"endpoint": server["server"], "certificate_authority": server["certificate-authority-data"]}
        made = Demo(site, space, name, {"subnet": subnet, "cluster": cluster})
        made.ask("first")
        site.succeed("cluster.yml")
        (node,) = [entry["metadata"]["name"] for entry in space.get("nodes")]
        label = "eks.amazonaws.com/nodegroup"
        space.kubectl("label", "--overwrite", "node", node, f"{label}={name}")
        try:
            yield made
        finally:
            space.kubectl("label", "node", node, f"{label}-")


def test_nodes_are_replaced_when_no_run_is_on_them(demo: Demo) -> None:
    site, space = demo.site, demo.space
    pipeline = space.pipeline(train=gated())
    kill_at(site.start("train.yml", "-e", f"pipeline={pipeline}"), "| tick ")
    demo.ask("second")
    for check in ((), ("--check",)):
        said = words(site.fail("cluster.yml", *check)).partition("refused, nothing was changed: ")[2]
        assert f"this would replace all 1 nodes, for launch_template, of node group {demo.name}" in said
        assert f"end what runs there: step train of run in namespace {space.namespace} runs on " in said
        assert "Wait until it ends, stop it" in said
        assert demo.version() == "1"
    assert space.ledger()["train"]["outcome"] == "running"

    space.open_gate()
    site.succeed("train.yml", "-e", f"pipeline={pipeline}")
    # It only looks, and changes nothing.
    assert "change   aws_eks_node_group.this" in site.succeed("cluster.yml", "--check")
    assert demo.version() == "1"
    site.succeed("cluster.yml")
    assert demo.version() == "2"
