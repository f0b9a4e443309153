"""Make `ansible_collections.mlops.eks` importable from a plain checkout, writing nothing to disk."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
# How long an example takes says more about what else the machine does.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


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
    """Add the switches that rewrite what is reviewed and recorded."""
    parser.addoption("--update-golden", action="store_true", help="write what is rendered now to tests/golden")
    parser.addoption("--record-proofs", action="store_true", help="write what is proven of charts: chart_proofs.py")


@pytest.fixture
def proven(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Record that an API server took a chart, or that a test executed it, which calls this last.

    `proven(chart, "dry-run", case)` is about the values file `ci/<case>-values.yaml`, `proven(chart, "executed")` about
    the test itself.
    """
    import chart_proofs

    def record(chart: str, kind: chart_proofs.Kind, case: str = "") -> None:
        if request.config.getoption("--record-proofs"):
            chart_proofs.record(chart, kind, case or request.node.nodeid)

    return record


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


@contextmanager
def made(name: str, book: str, *arguments: str) -> Iterator[Cluster]:
    """A native cluster that a playbook makes, and that is removed again."""
    where = ["-e", f"local_cluster_name={name}", "-e", f"kubeconfig=/var/lib/mlops-eks/{name}/kubeconfig", *arguments]
    up = playbook(book, *where)
    if up.returncode != 0:
        pytest.fail(f"cluster {name} did not come up:\n{up.stdout[-4000:]}{up.stderr[-2000:]}")
    try:
        yield Cluster(name=name, kubeconfig=f"/var/lib/mlops-eks/{name}/kubeconfig")
    finally:
        playbook("local_cluster.yml", *where, "-e", "local_cluster_state=absent")


def given(variable: str) -> Cluster | None:
    """The cluster whose kubeconfig the environment names."""
    kubeconfig = os.environ.get(variable)
    return Cluster(name=Path(kubeconfig).parent.name, kubeconfig=kubeconfig) if kubeconfig else None


@pytest.fixture(scope="session")
def native_cluster() -> Iterator[Cluster]:
    """The cluster `make test` started, or one started here and removed again."""
    found = given("MLOPS_EKS_TEST_KUBECONFIG")
    with nullcontext(found) if found else made(f"test-{os.getpid()}", "test_cluster.yml") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def second_cluster() -> Iterator[Cluster]:
    """A second cluster, without operators: no other process of the tests uses it at the same time."""
    found = given("MLOPS_EKS_TEST_KUBECONFIG_2")
    bare = ("-e", "local_cluster_provider=native", "-e", '{"cluster_addons_enabled": []}')
    with nullcontext(found) if found else made(f"second-{os.getpid()}", "local_cluster.yml", *bare) as cluster:
        yield cluster
