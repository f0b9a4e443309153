"""What the tests of terraform_stack share; they run the real Terraform, and fail without one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

sys.path.insert(0, str(Path(__file__).parents[1] / "cluster"))

from bucket import Bucket
from stacks import Stack


@pytest.fixture(scope="session", autouse=True)
def terraform() -> str:
    """The path of Terraform or OpenTofu."""
    wanted = os.environ.get("MLOPS_EKS_TERRAFORM")
    found = next(filter(None, map(shutil.which, [wanted] if wanted else ["terraform", "tofu"])), None)
    if found is None:
        pytest.fail("neither terraform nor tofu is on PATH: install one, or name it by MLOPS_EKS_TERRAFORM")
    return found


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the user's own: no mirror and no registry is needed."""
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", os.devnull)


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(tmp_path)


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    found = Bucket(f"http://{host}:{port}")
    yield found
    found.remove()
    server.stop()
