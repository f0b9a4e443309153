"""What the tests of terraform_stack share; they run the real Terraform, and fail without one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

sys.path.insert(0, str(Path(__file__).parents[1] / "cluster"))

from bucket import Bucket
from stacks import Stack
from terraform_program import find_program


# OpenTofu takes minutes to build the first time: `make test-aws`.
@pytest.fixture(autouse=True, params=["terraform", pytest.param("tofu", marks=pytest.mark.aws)])
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the program in use; no mirror, no registry and no settings of the user's own are needed."""
    found = find_program(request.param)
    monkeypatch.setenv("MLOPS_EKS_TERRAFORM", found)
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", os.devnull)
    return Path(found).name


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
