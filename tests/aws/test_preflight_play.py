"""`playbooks/preflight.yml` over several clusters at once, against one server that is all regions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fakes.aws.answers import usual
from fakes.aws.server import AwsServer

ROOT = Path(__file__).resolve().parents[2]
INVENTORY = """
clusters:
  children:
    eks:
      vars:
        ansible_connection: local
      hosts:
        train-usw2:
          region: us-west-2
          eks_cluster_variables:
            network: {availability_zones: [us-west-2a, us-west-2b]}
            accelerator_node_groups:
              p5: {instance_type: p5.48xlarge, availability_zone: us-west-2b, efa: {enabled: true}, size: {max: 2}}
        train-usw3:
          region: us-west-2
          eks_cluster_variables:
            network: {availability_zones: [us-west-2a, us-west-2b]}
        train-euw1:
          region: eu-west-1
          cluster_name: europe
          eks_cluster_variables:
            kubernetes_version: "1.32"
            network: {availability_zones: [eu-west-1a, us-west-2a]}
"""


@pytest.fixture
def front() -> Iterator[AwsServer]:
    server = AwsServer()
    usual(server, now=datetime.now(UTC))
    yield server
    server.close()


def play(front: AwsServer, inventory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    credentials = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    environment = {**os.environ, **credentials, "AWS_ENDPOINT_URL": front.url, "ANSIBLE_NOCOLOR": "1"}
    environment.pop("AWS_PROFILE", None)
    program = str(Path(sys.executable).parent / "ansible-playbook")
    command = [program, "-i", str(inventory), "playbooks/preflight.yml", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_every_cluster_has_its_own_table_and_one_that_fails_stops_no_other(front: AwsServer, tmp_path: Path) -> None:
    inventory = tmp_path / "inventory.yml"
    inventory.write_text(INVENTORY)
    done = play(front, inventory)
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert "Traceback" not in said
    good = [line for line in said.splitlines() if line.startswith("train-usw2 | ")]
    bad = [line for line in said.splitlines() if line.startswith("train-euw1 | ")]
    assert not [line for line in good if "FAIL" in line], "\n".join(good)
    assert any(re.match(r"train-usw2 \| ok +EFA of p5 +32 of 32 interfaces of p5.48xlarge$", line) for line in good)
    assert any(line.startswith("train-usw2 | in all") for line in good)
    # One quota is for both clusters of the region; that of the other region is another.
    shared = r"quota of VPCs +5, 1 in use, the stack takes 1; with train-usw3 2$"
    assert any(re.search(shared, line) for line in good), "\n".join(good)
    assert any(re.search(r"quota of VPCs +5, 1 in use, the stack takes 1$", line) for line in bad)
    assert any("FAIL  zones" in line and "us-west-2a is no zone of eu-west-1" in line for line in bad)
    assert any("FAIL  Kubernetes version" in line and "out of support" in line for line in bad)
    # Its nodes would be offered in one of the two zones it asks for.
    assert any(re.match(r"train-euw1 \| warn +offer of system", line) for line in bad), "\n".join(bad)
    assert "europe in eu-west-1: 2 of " in said
    recap = dict(re.findall(r"^(train-\w+) +: .*failed=(\d)", said, re.MULTILINE))
    assert recap == {"train-usw2": "0", "train-usw3": "0", "train-euw1": "1"}


def test_check_mode_is_the_same(front: AwsServer, tmp_path: Path) -> None:
    inventory = tmp_path / "inventory.yml"
    inventory.write_text(INVENTORY)
    done = play(front, inventory, "-l", "train-usw2,localhost", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^train-usw2 \| ok +credentials ", done.stdout, re.MULTILINE)
    assert "changed=0" in done.stdout
