"""Charts from elsewhere: real sources on this machine, and a cache that every test has to itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.go import go_program
from fakes.sources import GitTree, HelmRepository, Registry, chart, package


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    """Build the registry into the cache that is kept, before a test has one to itself."""
    go_program("registry")


@pytest.fixture(autouse=True)
def cache(_built: None, tmp_path: Path, helm: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache; Helm and git know nothing of the user's."""
    monkeypatch.setenv("MLOPS_EKS_HELM", helm)
    monkeypatch.setenv("MLOPS_EKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HELM_CONFIG_HOME", str(tmp_path / "helm"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def packages(_built: None, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return versions 1.0.0, 1.1.0 and 2.0.0-rc.1 of the chart `app`, as packages."""
    where = tmp_path_factory.mktemp("packages")
    return [package(chart(where / "app", one, says=one), where) for one in ("1.0.0", "1.1.0", "2.0.0-rc.1")]


@pytest.fixture
def repository(tmp_path: Path, packages: list[Path]) -> Iterator[HelmRepository]:
    """Return a Helm repository that has them."""
    found = HelmRepository(tmp_path / "repository")
    found.publish(*packages)
    yield found
    found.web.close()


@pytest.fixture
def registry(packages: list[Path]) -> Iterator[Registry]:
    """Return a registry that has them."""
    found = Registry()
    found.publish(*packages)
    yield found
    found.close()


@pytest.fixture
def tree(tmp_path: Path) -> GitTree:
    """Return a git tree with `charts/app`, tagged v1.0, and one commit more."""
    found = GitTree(tmp_path / "team" / "charts.git")
    chart(found.directory / "charts" / "app", says="tagged")
    found.commit()
    found.git("tag", "v1.0")
    chart(found.directory / "charts" / "app", says="later")
    found.commit()
    return found
