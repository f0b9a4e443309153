"""Charts of Helm repositories and registries: which version is taken, what is refused, what is done without them."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from asking import get, note, refusal, says
from fakes.sources import LOGIN, HelmRepository, Registry, chart

from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart

VERSIONS = {
    "1.0.0": "1.0.0",
    "~1.0": "1.0.0",
    "^1": "1.1.0",
    ">=1.0.0, <1.1.0": "1.0.0",
    "2.0.0-rc.1": "2.0.0-rc.1",
    ">1.0.0-0": "2.0.0-rc.1",
}


def test_the_newest_version_of_a_repository_that_fits_is_taken(repository: HelmRepository) -> None:
    index = yaml.safe_load((repository.directory / "index.yaml").read_text(encoding="utf-8"))
    digests = {row["version"]: row["digest"] for row in index["entries"]["app"]}
    for asked, found in VERSIONS.items():
        got = get("app", repo=repository.url, version=asked)
        assert (got.version, says(got), got.ref) == (found, found, f"app of {repository.url}")
        assert _digest(got) == f"sha256:{digests[found]}"
        assert got.origin is not None
        assert got.origin.package.read_bytes() == (repository.directory / f"app-{found}.tgz").read_bytes()


def test_the_newest_version_of_a_registry_that_fits_is_taken(registry: Registry) -> None:
    for asked, found in VERSIONS.items():
        got = get(f"{registry.url}/app", version=asked)
        assert (got.version, says(got), note(got)) == (found, found, "")


def test_what_a_repository_lacks_is_named(repository: HelmRepository) -> None:
    of = f"of {repository.url}: there is no"
    assert refusal("app", repo=repository.url, version="9.9.9") == (
        f"version: chart app {of} version '9.9.9'. It has 2.0.0-rc.1, 1.1.0, 1.0.0."
    )
    assert refusal("ap", repo=repository.url, version="1.0.0") == (
        f"chart: chart ap {of} chart 'ap' in it. Did you mean 'app'?"
    )
    assert "404" in refusal("app", repo=f"{repository.url}/nowhere", version="1.0.0")


def test_what_a_registry_lacks_is_named(registry: Registry) -> None:
    app = f"{registry.url}/app"
    assert refusal(app, version="9.9.9") == (
        f"version: chart {app}: there is no version '9.9.9'. The newest is 2.0.0-rc.1."
    )
    assert "The newest is 2.0.0-rc.1." in refusal(app, version="~7.1")
    assert refusal(f"{registry.url}/nope", version="1.0.0") == (
        f"chart: chart {registry.url}/nope: there is no such chart. Check its name, and that you may read it."
    )


def test_a_version_published_anew_is_another_chart(repository: HelmRepository, tmp_path: Path) -> None:
    before = get("app", repo=repository.url, version="1.0.0")
    repository.publish(chart(tmp_path / "app", "1.0.0", says="something else"))
    after = get("app", repo=repository.url, version="1.0.0")
    assert says(after) == "something else"
    assert after.digest != before.digest
    assert after.label != before.label
    assert says(get("app", repo=repository.url, version="1.0.0", digest=_digest(before))) == "1.0.0"


def test_a_moved_tag_is_another_chart(registry: Registry, tmp_path: Path) -> None:
    before = get(f"{registry.url}/app", version="1.0.0")
    registry.publish(chart(tmp_path / "app", "1.0.0", says="something else"))
    after = get(f"{registry.url}/app", version="1.0.0")
    assert (says(before), says(after)) == ("1.0.0", "something else")
    assert after.digest != before.digest


def test_a_digest_is_kept_to(repository: HelmRepository, cache: Path) -> None:
    wrong = refusal("app", repo=repository.url, version="1.0.0", digest=f"sha256:{'0' * 64}")
    assert wrong.startswith("digest: ")
    right = _digest(get("app", repo=repository.url, version="1.0.0"))
    assert f"its package is {right}, not sha256:000" in wrong
    repository.web.close()
    # Nobody has to be asked for what is known by its content.
    pinned = get("app", repo=repository.url, version="1.0.0", digest=right)
    assert (says(pinned), note(pinned)) == ("1.0.0", "")


@pytest.mark.parametrize("kind", ["repository", "registry"])
def test_without_its_source_an_exact_version_is_taken_from_the_cache(
    kind: str, repository: HelmRepository, registry: Registry
) -> None:
    where = ("app", {"repo": repository.url}) if kind == "repository" else (f"{registry.url}/app", {})
    exact, newest = get(where[0], version="1.0.0", **where[1]), get(where[0], version="^1", **where[1])
    repository.web.close()
    registry.close()

    again = get(where[0], version="1.0.0", **where[1])
    assert again.digest == exact.digest
    assert "cannot be reached" in note(again)
    assert f"Using the copy fetched before (1.0.0, {_digest(exact)})." in note(again)
    ranged = refusal(where[0], version="^1", **where[1])
    assert "cannot be reached" in ranged
    assert f"'^1' may have changed since it was fetched (1.1.0, {_digest(newest)})." in ranged
    assert ranged.endswith("Set 'version: 1.1.0' to use that copy.")
    never = refusal(where[0], version="1.0.1", **where[1])
    assert "cannot be reached" in never
    assert "copy" not in never


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[HelmRepository]:
    """Return a repository that lets in only whom it knows."""
    found = HelmRepository(tmp_path / "closed", login=LOGIN)
    found.publish(chart(tmp_path / "app", says="secret"))
    yield found
    found.web.close()


def test_a_closed_repository_wants_the_login_that_helm_knows(closed: HelmRepository, tmp_path: Path) -> None:
    refused = refusal("app", repo=closed.url, version="1.0.0")
    assert "its source refuses the login (failed to fetch" in refused
    assert "401 Unauthorized" in refused
    assert refused.endswith("add the login by 'helm repo add'.")

    user, _, password = LOGIN.partition(":")
    known = {"name": "mine", "url": closed.url + "/", "username": user, "password": password}
    (tmp_path / "helm").mkdir()
    (tmp_path / "helm" / "repositories.yaml").write_text(yaml.safe_dump({"repositories": [known]}), encoding="utf-8")
    got = get("app", repo=closed.url, version="1.0.0")
    assert says(got) == "secret"
    _is_nowhere(password, tmp_path / "cache")


def test_a_closed_registry_wants_the_login_that_helm_knows(tmp_path: Path, helm: str) -> None:
    registry = Registry(login=LOGIN)
    try:
        config = tmp_path / "helm" / "registry" / "config.json"
        app = f"{registry.url}/app"
        refused = refusal(app, version="1.0.0")
        assert refused.endswith("log in by 'helm registry login'.")

        config.parent.mkdir(parents=True)
        auth = base64.b64encode(LOGIN.encode()).decode()
        config.write_text(json.dumps({"auths": {registry.address: {"auth": auth}}}), encoding="utf-8")
        registry.publish(chart(tmp_path / "app", says="secret"))
        assert says(get(app, version="1.0.0")) == "secret"
        _is_nowhere(LOGIN.partition(":")[2], tmp_path / "cache")
    finally:
        registry.close()


def _is_nowhere(secret: str, directory: Path) -> None:
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_an_index_that_leads_elsewhere_shows_no_login(repository: HelmRepository) -> None:
    index = repository.directory / "index.yaml"
    text = index.read_text(encoding="utf-8")
    index.write_text(
        text.replace("- app-1.0.0.tgz", "- http://jane:hidden@127.0.0.1:1/app-1.0.0.tgz"), encoding="utf-8"
    )
    refused = refusal("app", repo=repository.url, version="1.0.0")
    assert "http://127.0.0.1:1/app-1.0.0.tgz" in refused or "cannot be reached" in refused
    assert "hidden" not in refused


def test_what_is_no_chart_is_refused(repository: HelmRepository) -> None:
    (repository.directory / "app-1.0.0.tgz").write_bytes(b"<html>Sorry</html>")
    assert "chart app of" in refusal("app", repo=repository.url, version="1.0.0")


def test_many_at_once_do_not_disturb_each_other(repository: HelmRepository, cache: Path) -> None:
    found: list[Chart] = []
    threads = [
        threading.Thread(target=lambda: found.append(get("app", repo=repository.url, version="^1"))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len({(one.digest, one.path) for one in found}) == 1
    names = {path.name for path in (cache / "charts").iterdir()}
    assert names == {"given", _digest(found[0]).replace(":", "-")}


def _digest(chart: Chart) -> str:
    assert chart.origin is not None
    return chart.origin.package_digest
