"""Steps whose charts come from elsewhere: read, planned, put on record, and repeated from what was kept of them."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from fakes.sources import GitTree, HelmRepository, Registry, chart, package

from ansible_collections.mlops.eks.plugins.module_utils._charts.find import find
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._engine.evidence import write_draft
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import parse
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import SOURCE
from ansible_collections.mlops.eks.plugins.module_utils._plan.checks import pipeline_info
from ansible_collections.mlops.eks.plugins.module_utils._plan.plan import Draft, make_draft
from ansible_collections.mlops.eks.plugins.module_utils._plan.retry import Retry
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import Task, Waits
from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import STEP_KEYS
from ansible_collections.mlops.eks.plugins.module_utils._recipe.progress import progress_pattern

Json = dict[str, t.Any]


def read(directory: Path, *steps: Json) -> Json:
    """Return what `pipeline_info` says of a pipeline with these steps."""
    directory.mkdir(exist_ok=True)
    text = yaml.safe_dump({"name": "run", "steps": list(steps)}, sort_keys=False)
    (directory / "pipeline.yaml").write_text(text, encoding="utf-8")
    return look(directory)


def look(directory: Path) -> Json:
    """Return what `pipeline_info` says of a pipeline."""
    given = {"pipeline": str(directory), "release": None, "from_step": None, "only_steps": None, "recipe_values": None}
    return t.cast(Json, pipeline_info(given))


def draft(row: Json, runs: Path, **more: t.Any) -> tuple[Task, Draft]:
    """Return the task and draft of a step as the role would run it."""
    found = find(Reference(**{key: row[key] for key in SOURCE}))
    where = {"cluster": "east", "namespace": "team", "release": "run", "run_id": "r1", "runs_dir": runs}
    place = {"step": row["name"], "index": row["index"], "total": row["total"], "keep": row["keep"]}
    said = {"values": row["values"], "recipes": tuple(row["recipes"]), "chart": found.ref}
    task = Task(**{**where, **place, **said, **more})
    return task, make_draft(task, found)


@pytest.fixture
def own(tmp_path: Path) -> Json:
    """Return a step whose chart is a directory beside the pipeline."""
    chart(tmp_path / "beside" / "own", says="beside the pipeline")
    return {"name": "directory", "chart": "own"}


@pytest.fixture
def steps(own: Json, tmp_path: Path, repository: HelmRepository, registry: Registry, tree: GitTree) -> list[Json]:
    """Return a step from every kind of source."""
    package(chart(tmp_path / "packed", "3.0.0"), tmp_path / "beside")
    return [
        own,
        {"name": "package", "chart": "packed-3.0.0.tgz"},
        {"name": "repository", "chart": "app", "repo": repository.url, "version": "^1"},
        {"name": "registry", "chart": f"{registry.url}/app", "version": "~1.0"},
        {"name": "git", "chart": "charts/app", "repo": tree.url, "version": "main"},
    ]


def test_a_run_keeps_to_the_charts_it_began_with(
    tmp_path: Path, steps: list[Json], repository: HelmRepository, registry: Registry, tree: GitTree
) -> None:
    found = read(tmp_path / "beside", *steps)
    rows = {row["name"]: row for row in found["pipeline"]["steps"]}
    assert {name: row["version"] for name, row in rows.items()} == {
        "directory": None,
        "package": None,
        "repository": "1.1.0",
        "registry": "1.0.0",
        "git": tree.git("rev-parse", "HEAD"),
    }
    assert {name for name, row in rows.items() if row["digest"]} == {"repository", "registry"}
    assert "warnings" not in found
    repository.publish(chart(tmp_path / "app", "1.1.0", says="moved"))
    chart(tree.directory / "charts" / "app", says="moved")
    tree.commit()
    registry.close()
    said = {name: draft(row, tmp_path)[1].chart.defaults["says"] for name, row in rows.items()}
    assert said == {
        "directory": "beside the pipeline",
        "package": "hello",
        "repository": "1.1.0",
        "registry": "1.0.0",
        "git": "later",
    }


def test_a_mistake_has_its_line(tmp_path: Path, repository: HelmRepository) -> None:
    where = {"chart": "app", "repo": repository.url, "version": "9.9.9"}
    line = f"{tmp_path}/p/pipeline.yaml:"
    for change, number in (({}, 6), ({"chart": "ap"}, 4), ({"repo": repository.url + "/x"}, 5), ({"digest": "x"}, 7)):
        with pytest.raises(InvalidInputError) as caught:
            read(tmp_path / "p", {"name": "train", **where, **change})
        assert str(caught.value).startswith(f"{line}{number}: ")
    with pytest.raises(InvalidInputError, match=r"pipeline.yaml:4: chart 'training/mpijob': not in the catalogue"):
        read(tmp_path / "p", {"name": "train", "chart": "training/mpijob"})


def test_a_source_that_is_away_is_told(tmp_path: Path, repository: HelmRepository) -> None:
    step = {"name": "train", "chart": "app", "repo": repository.url, "version": "1.0.0"}
    read(tmp_path / "p", step)
    repository.web.close()
    (note,) = read(tmp_path / "p", step)["warnings"]
    assert "cannot be reached" in note
    assert "Using the copy fetched before (1.0.0, sha256:" in note


def test_a_run_is_repeated_from_its_evidence(
    tmp_path: Path, steps: list[Json], repository: HelmRepository, registry: Registry, tree: GitTree, cache: Path
) -> None:
    values = {"says": "12:30", "yes": "y", "number": "1e3", "octal": "0o17", "deep": {"none": None, "list": [1, 1.5]}}
    catalogue = {
        "name": "catalogue",
        "chart": "data-prep/data-process",
        "values": {"image": "x:1", "process": {"command": ["a | tee b\nc"]}},
    }
    rows = read(tmp_path / "beside", catalogue, *({**step, "values": values} for step in steps))["pipeline"]["steps"]
    done = [draft(row, tmp_path / "runs") for row in rows]
    for task, made in done:
        write_draft(task, made)
    # Nothing of what it was made of is left.
    repository.web.close()
    registry.close()
    tree.directory.rename(tmp_path / "gone")
    (tmp_path / "beside").rename(tmp_path / "gone too")
    cache.rename(tmp_path / "gone as well")

    again = look(tmp_path / "runs" / "r1" / "east")

    assert (again["release"], again["pipeline"]["namespace"]) == ("run", "team")
    assert [row["name"] for row in again["pipeline"]["steps"]] == [row["name"] for row in rows]
    repeated = [draft(row, tmp_path / "again")[1] for row in again["pipeline"]["steps"]]
    assert [one.identity for one in repeated] == [made.identity for _, made in done]


def test_the_package_that_is_kept_is_that_of_the_record(tmp_path: Path, steps: list[Json]) -> None:
    for row in read(tmp_path / "beside", *steps)["pipeline"]["steps"][1:]:
        task, made = draft(row, tmp_path / "runs")
        write_draft(task, made)
        again = find(Reference(chart=str(task.evidence / "chart.tgz")))
        assert made.chart.source is not None
        assert again.origin is not None
        assert again.origin.package_digest == made.about["chart_source"]["digest"]


def test_what_the_role_was_told_is_repeated(tmp_path: Path, own: Json) -> None:
    row = read(tmp_path / "beside", own)["pipeline"]["steps"][0]
    more = {
        "keep": True,
        "workload": "Deployment",
        "until": parse("condition=Available"),
        "fail_on": (parse("condition=Doomed"),),
        "progress": progress_pattern(r"(?P<done>\d+)"),
        "waits": Waits(timeout=90.5, no_output=7.0),
        "retry": Retry(retries=3, on=("any",), backoff=2.0),
    }
    write_draft(*draft(row, tmp_path / "runs", **more))
    # A new key of a step is kept too, or told here to be none of what is repeated.
    (kept,) = yaml.safe_load((tmp_path / "runs/r1/east/pipeline.yaml").read_text(encoding="utf-8"))["steps"]
    assert kept.keys() == STEP_KEYS.keys() - {"recipes", "values", "repo", "version", "digest"}
    (again,) = look(tmp_path / "runs" / "r1" / "east")["pipeline"]["steps"]
    assert (again["keep"], again["retry_on"]) == (True, ["any"])
    wanted = {"timeout": 91, "no_output_timeout": 7, "retries": 3, "retry_backoff": 2}
    assert {name: again["limits"][name] for name in wanted} == wanted


def test_nothing_with_a_secret_in_it_is_kept(tmp_path: Path, own: Json) -> None:
    row = read(tmp_path / "beside", own)["pipeline"]["steps"][0]
    in_the_chart, in_the_values = Mask(["beside the pipeline"]), Mask(["hunter2"])
    for number, mask in enumerate((in_the_chart, in_the_values)):
        runs = tmp_path / f"runs{number}"
        write_draft(*draft({**row, "values": {"says": "hunter2"}}, runs, mask=mask))
        kept = {path.name: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
        assert "values.yaml" in kept
        assert "pipeline.yaml" not in kept
        assert not any(form in content for content in kept.values() for form in (b"hunter2",) if mask is in_the_values)
        assert ("chart.tgz" in kept) is (mask is in_the_values)
