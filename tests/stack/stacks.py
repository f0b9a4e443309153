# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Stacks for the real Terraform that need no provider: `terraform_data`, held up and made to fail by shell commands."""

from __future__ import annotations

import subprocess
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from plays import ansible_playbook

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.entrypoints import terraform_stack
from ansible_collections.mlops.eks.plugins.modules.terraform_stack import ARGUMENT_SPEC

MAIN = """
variable "size" {
  type    = number
  default = 1
}
variable "command" {
  type    = string
  default = "true"
}
variable "token" {
  type      = string
  sensitive = true
  default   = "hidden-token"
}
module "network" {
  source = "../../modules/network"
  size   = var.size
}
resource "terraform_data" "cluster" {
  input            = { token = var.token }
  triggers_replace = [var.size]
  depends_on       = [module.network]
  provisioner "local-exec" { command = var.command }
}
resource "terraform_data" "nodes" {
  count      = var.size
  input      = "node-${count.index}"
  depends_on = [terraform_data.cluster]
}
output "size" { value = var.size }
output "token" {
  value     = var.token
  sensitive = true
}
"""
NETWORK = """
variable "size" { type = number }
resource "terraform_data" "this" { input = var.size }
"""


class Ran(t.NamedTuple):
    """What a run said and returned; `lines` without the cluster, identifiers and times."""

    text: str
    result: dict[str, t.Any]

    @property
    def lines(self) -> list[str]:
        """Return what was printed, as it is the same in every run, whoever else uses the cache of providers."""
        said = [line for line in self.text.splitlines() if "providers: another run is at work" not in line]
        found = [line.split(" | ", 1)[-1] for line in said]
        return [line.split(" in ")[0].split(" (")[0] for line in found]


class Stack:
    """A stack, and the directory of one cluster made of it."""

    def __init__(self, directory: Path, name: str = "train", source: Path | None = None) -> None:
        self.directory, self.name = directory, name
        self.source = source or self._write(directory / "terraform")
        self.data = directory / "clusters" / name
        self.arguments: dict[str, t.Any] = {"source": str(self.source), "data_dir": str(self.data)}
        self.variables: dict[str, t.Any] = {}

    def _write(self, root: Path) -> Path:
        for path, text in {"stacks/cluster": MAIN, "modules/network": NETWORK}.items():
            (root / path).mkdir(parents=True)
            (root / path / "main.tf").write_text(text, encoding="utf-8")
        return root / "stacks" / "cluster"

    def run(self, *, check: bool = False, diff: bool = False, **arguments: t.Any) -> Ran:
        """Run the module's engine as its action plug-in does, without signs of life: a busy machine adds some."""
        given = {**self.arguments, "heartbeat": 0, "variables": self.variables, **arguments}
        checked = ArgumentSpecValidator(ARGUMENT_SPEC).validate(given)
        assert checked.error_messages == []
        said: list[str] = []
        result = terraform_stack(
            checked.validated_parameters, cluster=self.name, check=check, diff=diff, say=said.append
        )
        return Ran("\n".join(said), result)

    def refused(self, **arguments: t.Any) -> str:
        """Run it, see that it fails, and return why."""
        with pytest.raises(EksError) as failed:
            self.run(**arguments)
        message = str(failed.value)
        assert "\n" not in message
        return message

    def play(self, *words: str, **arguments: t.Any) -> list[str]:
        """Return the command line of a play that does the same, with a sign of life each second."""
        task = {**self.arguments, "heartbeat": 1, "variables": self.variables, **arguments}
        tasks = [{"name": "Make it", "mlops.eks.terraform_stack": task}]
        book = self.directory / f"{self.name}.yml"
        play = [{"name": "Stack", "hosts": self.name, "gather_facts": False, "tasks": tasks}]
        book.write_text(yaml.safe_dump(play, sort_keys=False), encoding="utf-8")
        host = ["-i", f"{self.name},", "-e", "ansible_connection=local"]
        return [ansible_playbook(), *host, str(book), *words]

    def resources(self) -> list[str]:
        """Return the addresses in the state, as Terraform itself tells."""
        shown = subprocess.run(
            [str(self.data / "run"), "state", "list"], capture_output=True, text=True, check=True
        ).stdout
        return sorted(shown.split())
