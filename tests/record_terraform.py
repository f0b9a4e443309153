# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Record what the real Terraform writes with `-json`, for the tests of the reader: python tests/record_terraform.py.

No provider and no registry is needed: the stacks are made of `terraform_data`, which is built in.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KEPT = Path(__file__).parent / "fixtures" / "terraform"
ENV = {**os.environ, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1", "TF_CLI_CONFIG_FILE": os.devnull}
STACK = """
variable "size" {
  type = number
  validation {
    condition     = var.size > 0
    error_message = "size is ${var.size}: give at least 1."
  }
}
variable "token" {
  type      = string
  sensitive = true
  default   = "hidden-token"
}
variable "command" { default = "true" }
resource "terraform_data" "network" { input = var.size }
resource "terraform_data" "cluster" {
  input            = { size = var.size, token = var.token }
  triggers_replace = [var.size]
  depends_on       = [terraform_data.network]
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


class Recorder:
    """A stack in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.program = shutil.which(os.environ.get("MLOPS_EKS_TERRAFORM", "terraform")) or sys.exit("no terraform")
        (directory / "main.tf").write_text(STACK, encoding="utf-8")

    def run(self, name: str, *words: str) -> None:
        """Keep what a command writes, whether or not it fails."""
        done = subprocess.run(
            [self.program, *words], cwd=self.directory, env=ENV, capture_output=True, text=True, check=False
        )
        self.keep(name, done.stdout + done.stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command whose output is read later."""
        return subprocess.Popen(
            [self.program, *words], cwd=self.directory, env=ENV, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def keep(self, name: str, text: str) -> None:
        """Write a recording, without names of this machine."""
        here = f"{getpass.getuser()}@{socket.gethostname()}"
        text = text.replace(str(self.directory), "/stack").replace(here, "me@laptop")
        (KEPT / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text.splitlines())} lines")


def read_until(process: subprocess.Popen[str], word: str) -> list[str]:
    """Return the lines up to the one with `word`."""
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        if word in line:
            return lines
    raise RuntimeError(f"no {word} in {lines}")


def record(stack: Recorder) -> None:
    """Record everything, in the order of a stack's life."""
    stack.run("init.jsonl", "init", "-json")
    stack.run("plan-invalid.jsonl", "plan", "-json", "-var", "size=0")
    stack.run("plan-create.jsonl", "plan", "-json", "-var", "size=2", "-out=planned")
    stack.run("plan-create.json", "show", "-json", "planned")
    stack.run(
        "apply-failed.jsonl", "apply", "-json", "-auto-approve", "-var", "size=2", "-var", "command=echo no; exit 3"
    )
    process = stack.start("apply", "-json", "-auto-approve", "-var", "size=2", "-var", "command=sleep 60")
    lines = read_until(process, "apply_progress")
    stack.run("plan-locked.jsonl", "plan", "-json", "-var", "size=2", "-lock-timeout=1s")
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate()
    stack.keep("apply-interrupted.jsonl", "".join(lines) + rest)
    stack.run("plan-tainted.jsonl", "plan", "-json", "-var", "size=2", "-out=planned")
    stack.run("plan-tainted.json", "show", "-json", "planned")
    stack.run("apply.jsonl", "apply", "-json", "planned")
    stack.run("plan-replace.jsonl", "plan", "-json", "-var", "size=1", "-out=planned")
    stack.run("plan-replace.json", "show", "-json", "planned")
    stack.run("plan-destroy.jsonl", "plan", "-json", "-destroy", "-var", "size=2", "-out=planned")
    stack.run("destroy.jsonl", "apply", "-json", "planned")


if __name__ == "__main__":
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        begun = time.monotonic()
        record(Recorder(Path(directory)))
        print(f"recorded in {time.monotonic() - begun:.0f} s")
