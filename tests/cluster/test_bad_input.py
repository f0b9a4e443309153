# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What the user may get wrong costs one line that names the thing and the remedy; nothing is installed."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from proxy import without_rights
from samples import JOB, SERVER, Json, job
from space import Space

pytestmark = pytest.mark.cluster


class Case(t.NamedTuple):
    """Files that are wrong, and what must be said about them. `{dir}` is the pipeline's directory."""

    files: dict[str, str]
    says: tuple[str, ...]
    extra: Json = {}  # noqa: RUF012


def _steps(*steps: Json) -> str:
    return yaml.safe_dump({"name": "run", "steps": list(steps)}, sort_keys=False)


TRAIN: Json = {"name": "train", "chart": JOB, "recipe": "train.yaml"}
GOOD = yaml.safe_dump(job("echo a"), sort_keys=False)
ONE = _steps(TRAIN)

CASES = {
    "unknown chart": Case(
        {"pipeline.yaml": _steps({**TRAIN, "chart": "data-prep/data-proces"}), "train.yaml": GOOD},
        ("chart 'data-prep/data-proces': not in the catalogue", "Did you mean 'data-prep/data-process'?"),
    ),
    "misspelt value": Case(
        {"pipeline.yaml": ONE, "train.yaml": GOOD.replace("requests:", "request:")},
        ("{dir}/train.yaml:4: unknown key 'resources.request'", "Did you mean 'requests'?"),
    ),
    "mistyped value": Case(
        {"pipeline.yaml": ONE, "train.yaml": GOOD + "backoff_limit: often\n"},
        ("{dir}/train.yaml:", "backoff_limit: expected a whole number, found 'often'"),
    ),
    "empty recipe": Case({"pipeline.yaml": ONE, "train.yaml": "# later\n"}, ("{dir}/train.yaml: the file is empty",)),
    "recipe that is a list": Case(
        {"pipeline.yaml": ONE, "train.yaml": "- image: a\n"}, ("{dir}/train.yaml:1: found a list",)
    ),
    "recipe that is no YAML": Case(
        {"pipeline.yaml": ONE, "train.yaml": "image: [a\npvc: {\n"}, ("{dir}/train.yaml:", "not valid YAML")
    ),
    "absent recipe": Case(
        {"pipeline.yaml": ONE, "trian.yaml": GOOD}, ("recipe 'train.yaml' is not in", "Did you mean 'trian.yaml'?")
    ),
    "absent pipeline": Case({}, ("there is no pipeline.yaml in it", "Name a directory that has one")),
    "empty pipeline": Case({"pipeline.yaml": ""}, ("{dir}/pipeline.yaml: the file is empty",)),
    "two steps of one name": Case(
        {"pipeline.yaml": _steps(TRAIN, dict(TRAIN)), "train.yaml": GOOD},
        ("{dir}/pipeline.yaml:6: step 'train' is already at", "Give each its own name"),
    ),
    "a release name that is too long for the steps' names": Case(
        {"pipeline.yaml": _steps({**TRAIN, "chart": SERVER, "keep": True}), "train.yaml": GOOD},
        ("has 55 characters", "at most 53 characters"),
        {"release": "r" * 49},
    ),
    "a release name that is none": Case(
        {"pipeline.yaml": ONE, "train.yaml": GOOD}, ("release 'My_Run'", "lower-case letters"), {"release": "My_Run"}
    ),
    "a step that is none": Case(
        {"pipeline.yaml": ONE, "train.yaml": GOOD}, ("no step 'tarin'", "Did you mean 'train'?"), {"from_step": "tarin"}
    ),
}


def test_wrong_files_are_named_with_file_and_line(space: Space) -> None:
    """All of them in one play: each is a task of its own that may fail."""
    tasks = []
    for number, case in enumerate(CASES.values()):
        where = space.directory / str(number)
        where.mkdir()
        for file, text in case.files.items():
            (where / file).write_text(text, encoding="utf-8")
        tasks.append({"mlops.eks.pipeline_info": {"pipeline": str(where), **case.extra}, "ignore_errors": True})
    play = space.directory / "play.yml"
    play.write_text(yaml.safe_dump([{"hosts": "clusters", "gather_facts": False, "tasks": tasks}]), encoding="utf-8")

    shown = space.play(play)

    assert f"ignored={len(CASES)}" in shown
    for number, case in enumerate(CASES.values()):
        _said(shown, [text.replace("{dir}", str(space.directory / str(number))) for text in case.says])


@pytest.mark.parametrize(
    ("recipe", "extra", "says"),
    [
        pytest.param({"backof_limit": 1}, {}, "train.yaml:1: unknown key 'backof_limit'", id="in a recipe"),
        pytest.param({}, {"recipe_values": {"backof_limit": 1}}, "unknown key 'backof_limit'", id="as a variable"),
    ],
)
def test_a_misspelt_value_installs_nothing(space: Space, recipe: Json, extra: Json, says: str) -> None:
    pipeline = space.pipeline(prepare=job("echo a"), train={**recipe, **job("echo b")})

    shown = space.play("train", rc=2, pipeline=pipeline, **extra)

    _said(shown, [says, "Did you mean 'backoff_limit'?"])
    assert space.releases() == []
    assert space.names("jobs") == []
    assert space.ledger() == {}


def _said(shown: str, texts: list[str]) -> None:
    """Check that one line says all of it."""
    lines = [line for line in shown.splitlines() if line.startswith("[ERROR]")]
    assert any(all(text in line for text in texts) for line in lines), f"{texts} in:\n{shown}"


def test_no_pipeline(space: Space) -> None:
    _said(space.play("train", rc=None), ["no pipeline: name the directory", "-e pipeline=DIRECTORY"])


class Host(t.NamedTuple):
    """How to spoil the cluster's variables, and what must be said then."""

    spoil: Callable[[Space], Json]
    says: tuple[str, ...]


def _file(space: Space, name: str, text: str) -> str:
    path = space.directory / f"{name}.kubeconfig"
    path.write_text(text, encoding="utf-8")
    return str(path)


def _nobody(space: Space) -> Json:
    space.kubectl("create", "serviceaccount", "nobody")
    token = space.kubectl("create", "token", "nobody").strip()
    return {"kubeconfig": without_rights(space.kubeconfig, token, space.directory / "nobody.kubeconfig")}


def _expired(space: Space) -> Json:
    return {"kubeconfig": without_rights(space.kubeconfig, "not-a-token", space.directory / "expired.kubeconfig")}


HOSTS = {
    "no kubeconfig": Host(lambda _: {"kubeconfig": None}, ("'kubeconfig' is not set", "as a variable of the host")),
    "absent kubeconfig": Host(
        lambda space: {"kubeconfig": f"{space.directory}/absent"}, ("absent: no such file", "Create the cluster")
    ),
    "unreadable kubeconfig": Host(
        lambda space: {"kubeconfig": _file(space, "broken", "clusters: [")},
        ("broken.kubeconfig:1: cannot be read", "Write it again"),
    ),
    "kubeconfig without a cluster": Host(
        lambda space: {"kubeconfig": _file(space, "empty", "kind: Config\n")},
        ("empty.kubeconfig: it names no cluster",),
    ),
    "unknown context": Host(lambda _: {"kube_context": "absent"}, ("no context 'absent'", "Known: ")),
    "no permission": Host(_nobody, ('cannot get resource "configmaps"', "Ask the cluster's owner")),
    "wrong credentials": Host(_expired, ("refuses these credentials (401)",)),
    "absent namespace": Host(
        lambda _: {"kube_namespace": "absent-one"},
        ("namespace absent-one on cluster absent-namespace: not found. Create it",),
    ),
}


def test_wrong_clusters_are_named_and_do_not_stop_a_good_one(space: Space) -> None:
    """All of them in one play: each is a host of its own."""
    hosts = space.host_variables()
    for name, host in HOSTS.items():
        variables = {**space.host_variables()["east"], **host.spoil(space)}
        hosts[name.replace(" ", "-")] = {key: value for key, value in variables.items() if value is not None}
    inventory = space.write_inventory(hosts, "spoilt.yml")

    shown = space.start("train", pipeline=space.pipeline(train=job("echo a")), inventory=inventory).end(rc=2)

    for host in HOSTS.values():
        _said(shown, list(host.says))
    assert shown.count("failed=1") == len(HOSTS)
    assert space.ledger()["train"]["outcome"] == "succeeded"
    assert len(space.pods_ever()) == 1
    assert space.releases() == []


def test_a_cluster_that_stays_away(space: Space) -> None:
    document = yaml.safe_load(Path(space.kubeconfig).read_text(encoding="utf-8"))
    document["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    away = _file(space, "away", yaml.safe_dump(document))
    step = {"release": "run", "chart": JOB, "values": job("echo a")}

    shown = space.task("helm_step", 2, **step, kubeconfig=away, api_retry_timeout=1)

    _said(shown, ["https://127.0.0.1:9: no answer for 1 s", "Check that it runs"])
