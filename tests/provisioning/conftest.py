"""An AWS on a local port and a directory, for each test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cluster"))

from provisioning import SETTINGS, Site, small_host
from terraform_program import ROOT, find_mirror

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty directory and an empty AWS, which the environment names."""
    made = Site(tmp_path)
    made.use_mirror(find_mirror())
    # A user's settings are none of the tests'.
    for name in [name for name in os.environ if name.startswith(("AWS_", "TF_", "ANSIBLE_"))]:
        monkeypatch.delenv(name)
    given = CREDENTIALS | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "AWS_MAX_ATTEMPTS": "2",
        "NO_COLOR": "1",
        "TF_CLI_CONFIG_FILE": str(tmp_path / SETTINGS),
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-W", "ignore", "-m", "fakes.aws.server"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    ) as server:
        try:
            assert server.stdout
            monkeypatch.setenv("AWS_ENDPOINT_URL", server.stdout.readline().strip())
            yield made
        finally:
            server.kill()


@pytest.fixture
def small(site: Site) -> Site:
    """An inventory with one cluster of a small stack."""
    site.inventory({"demo": small_host(site)})
    return site
