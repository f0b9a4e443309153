"""An AWS on a local port and a directory, for each test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from provisioning import Site, host
from terraform_program import ROOT, find_mirror

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}
# It has the output of the real one, and needs no provider.
STACK = ROOT / "extensions/molecule/eks_cluster/stack"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty directory and an empty AWS, which the environment names."""
    settings = tmp_path / "terraformrc"
    mirror = find_mirror()
    settings.write_text(f'provider_installation {{ filesystem_mirror {{ path = "{mirror}" }} }}\n' if mirror else "")
    # A user's settings are none of the tests'.
    for name in [name for name in os.environ if name.startswith(("AWS_", "TF_", "ANSIBLE_"))]:
        monkeypatch.delenv(name)
    given = CREDENTIALS | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "AWS_MAX_ATTEMPTS": "2",
        "NO_COLOR": "1",
        "TF_CLI_CONFIG_FILE": str(settings),
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
            yield Site(tmp_path)
        finally:
            server.kill()


@pytest.fixture
def small(site: Site) -> Site:
    """An inventory with one cluster of a small stack, whose state is to be in a bucket that is not there yet."""
    stack = {"eks_cluster_source": str(STACK), "eks_cluster_backend": site.backend("demo")}
    site.inventory({"demo": host({"kubernetes_version": "1.35"}, **stack)})
    return site
