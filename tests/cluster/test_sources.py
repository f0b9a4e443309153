# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Steps whose charts come from elsewhere, from real sources: run, skipped, run anew when a tag moves, and repeated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.sources import GitTree, HelmRepository, Registry, chart, over_http
from samples import Json
from space import Space

pytestmark = pytest.mark.cluster


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[HelmRepository]:
    found = HelmRepository(tmp_path / "repository")
    found.publish(chart(tmp_path / "app", "1.4.2", says="from a repository"))
    yield found
    found.web.close()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    found = Registry()
    found.publish(chart(tmp_path / "app", "2.0.0", says="from a registry"))
    yield found
    found.close()


@pytest.mark.slow
def test_charts_from_elsewhere(space: Space, tmp_path: Path, repository: HelmRepository, registry: Registry) -> None:
    tree = GitTree(tmp_path / "trees" / "charts")
    app = tree.directory / "charts" / "app"
    chart(app, "3.0.0", says="from git")
    before = tree.commit()
    tree.git("tag", "v3")
    with over_http(tree.directory.parent) as web:
        address = f"git+http://{web.address}/charts"
        steps: list[Json] = [
            {"name": "repository", "chart": "app", "repo": repository.url, "version": "^1.4"},
            {"name": "registry", "chart": f"{registry.url}/app", "version": "2.0.0"},
            {"name": "git", "chart": "charts/app", "repo": address, "version": "v3"},
        ]
        pipeline = space.pipeline_of("run", steps, {})
        shown = space.play("train", pipeline=pipeline)
        assert "changed=3" in shown
        for step in steps:
            assert f"from {'a ' * (step['name'] != 'git')}{step['name']}\n" in shown
        record = space.record("git")
        assert (record["chart_version"], record["chart_source"]["repo"]) == ("3.0.0", address)
        assert record["chart_source"]["commit"] == before
        assert space.record("repository")["chart_version"] == "1.4.2"

        assert space.play("train", pipeline=pipeline).count("skipped: identical step succeeded") == 3

        chart(app, "3.0.0", says="from git, moved")
        after = tree.commit()
        tree.git("tag", "--force", "v3")
        moved = space.play("train", pipeline=pipeline)
    why = f"its chart changed from app 3.0.0 (commit {before[:12]}) to app 3.0.0 (commit {after[:12]})"
    assert f"step 3/3 git: runs again: {why} since it succeeded in run" in moved
    assert moved.count("skipped: identical step succeeded") == 2
    assert space.log("git") == ["from git, moved"]

    # No source can be reached any more, and the evidence of a run that skipped steps has them all.
    evidence = space.evidence("git").parent
    repository.web.close()
    registry.close()
    repeated = space.play("train", "-e", '{"force": true, "only_steps": ["registry"]}', pipeline=evidence)
    assert "from a registry\n" in repeated
    assert space.record("registry")["identity"] == space.ledger()["registry"]["identity"]


def test_a_source_that_refuses_is_named_with_the_line_of_the_step(space: Space, repository: HelmRepository) -> None:
    step = {"name": "train", "chart": "app", "repo": repository.url, "version": "9.9.9"}
    pipeline = space.pipeline_of("run", [step], {})
    shown = space.play("train", rc=None, pipeline=pipeline)
    assert f"{pipeline}/pipeline.yaml:6: chart app of {repository.url}: there is no version '9.9.9'. It has 1.4.2." in (
        " ".join(shown.split())
    )
    assert space.releases() == []
