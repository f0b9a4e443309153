"""Make `ansible_collections.mlops.eks` importable from a plain checkout, writing nothing to disk."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _importable(name: str, *path: Path) -> None:
    """Make `name` importable unless something else already did."""
    try:
        importlib.import_module(name)
    except ImportError:
        package = types.ModuleType(name)
        package.__path__ = [str(part) for part in path]
        sys.modules[name] = package
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, package)


_importable("ansible_collections")
_importable("ansible_collections.mlops")
_importable("ansible_collections.mlops.eks", ROOT)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that rewrites what is reviewed."""
    parser.addoption("--update-golden", action="store_true", help="write what is rendered now to tests/golden")


@pytest.fixture(scope="session")
def helm() -> str:
    """The path of Helm, found as the collection finds it; without one the tests fail."""
    from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import find_helm

    return find_helm()


@dataclass(frozen=True)
class Cluster:
    """A real cluster that tests may use; each test works in a namespace of its own."""

    name: str
    kubeconfig: str


def playbook(name: str, *arguments: str, inventory: str = "inventory/") -> subprocess.CompletedProcess[str]:
    """Run one of our playbooks as a user does and return what it printed."""
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", inventory, f"playbooks/{name}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def native_cluster() -> Iterator[Cluster]:
    """The cluster `make test` started, or one started here and removed again."""
    given = os.environ.get("MLOPS_EKS_TEST_KUBECONFIG")
    if given:
        yield Cluster(name=Path(given).parent.name, kubeconfig=given)
        return
    name = f"test-{os.getpid()}"
    where = ["-e", f"local_cluster_name={name}", "-e", f"kubeconfig=/var/lib/mlops-eks/{name}/kubeconfig"]
    up = playbook("test_cluster.yml", *where)
    if up.returncode != 0:
        pytest.fail(f"cluster {name} did not come up:\n{up.stdout[-4000:]}{up.stderr[-2000:]}")
    try:
        yield Cluster(name=name, kubeconfig=f"/var/lib/mlops-eks/{name}/kubeconfig")
    finally:
        playbook("local_cluster.yml", *where, "-e", "local_cluster_state=absent")
