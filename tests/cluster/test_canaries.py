# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Thirty secrets in every form and place: nothing of them is left on the controller or in the cluster.

What is searched: every file that the plays wrote or left, their output and ansible.log, the events of ansible-runner,
and every object of the namespace. `canaries.py` has the secrets, the forms and the search.
"""

from __future__ import annotations

import json
import os
import tempfile
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ansible_runner
import canaries
import pytest
from ansible.parsing.vault import VaultLib, VaultSecret
from canaries import END, Canary, Search
from plays import ROOT, ansible_playbook, until
from samples import Json
from space import Space

pytestmark = pytest.mark.cluster

# Objects that hold canaries because somebody put them there: the user's Secrets, and that of the run.
SECRETS = ("canary-env", "canary-from", "canary-file", "run-secrets")
# Values that no chart marks as secret are where Helm and the chart put them.
BY_VALUE = ("redact_0", "vault_0")
PASSWORD = b"a password of vaults"


@dataclass(frozen=True)
class Scene:
    """A namespace with the user's Secrets, and what the plays may write to."""

    space: Space
    canaries: list[Canary]
    search: Search
    given: tuple[str, ...]
    written: Path

    def pipeline(self, **how: t.Any) -> Path:
        """Write a pipeline of one step, which writes every canary in every form."""
        chart = canaries.write_chart(self.space.directory / "canary")
        step = {"name": "train", "chart": str(chart), "recipe": "train.yaml", "retries": how.pop("retries", 0)}
        return self.space.pipeline_of(
            "run", [{**step, "retry_on": ["any"], "retry_backoff": 0}], {"train": canaries.recipe(**how)}
        )

    def arguments(self, *more: str) -> tuple[str, ...]:
        """Return the arguments of a play that says as much as it can."""
        return ("-vvv", "--diff", *self.given, *more)

    def kept(self, *shown: str) -> dict[str, set[str]]:
        """Return where on the controller canaries are; `shown` is what plays printed."""
        found = self.search.files(self.written, self.space.runs)
        return found | {f"output {number}": names for number, text in enumerate(shown) if (names := self._in(text))}

    def in_the_cluster(self, *, going: bool = False) -> dict[str, set[str]]:
        """Return which objects hold canaries that have no business there, while a run is `going` or after it."""
        kinds = self.space.kubectl("api-resources", "--namespaced", "--verbs=list", "-o", "name").split()
        wanted = [kind for kind in kinds if not kind.endswith("metrics.k8s.io")]
        found = json.loads(self.space.kubectl("get", ",".join(wanted), "-o", "json"))["items"]
        # A container's last words are the program's own, and the kubelet's to show.
        entries = [{**entry, "status": {}} for entry in found if entry["metadata"]["name"] not in SECRETS]
        searched = {entry["kind"] for entry in entries}
        # A Lease is gone with its controller, and what a release consists of with the release.
        assert searched >= ({"Job", "Pod", "Secret", "Lease"} if going else set()) | {"ConfigMap", "Event"}
        return {
            name: left
            for name, names in self.search.objects(entries).items()
            if (left := names - set(BY_VALUE if name.startswith(("Job/", "Pod/", "Secret/sh.helm.")) else ()))
        }

    def log(self) -> str:
        """Return the raw log of the pod that runs."""
        (pod,) = self.space.names("pods")
        return self.space.kubectl("logs", pod)

    def said_all(self) -> bool:
        """Return whether the program has written everything."""
        return END in self.log()

    def _in(self, text: str) -> set[str]:
        return self.search.names(text.encode())


@pytest.fixture
def written() -> Iterator[Path]:
    """Return a directory with a short path: Ansible has a socket below TMPDIR, whose path may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="canaries-") as directory:
        yield Path(directory)


@pytest.fixture
def scene(space: Space, tmp_path: Path, written: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Let everything that is written be below directories that are searched."""
    found = canaries.canaries()
    assert len(found) == 30
    for entry in canaries.kubernetes_secrets(found):
        space.kubectl("create", "-f", "-", stdin=json.dumps(entry))
    given = tmp_path / "given"
    given.mkdir()
    for name in ("tmp", "ansible", "helm", "awx"):
        (written / name).mkdir(parents=True)
    (given / "password").write_bytes(PASSWORD)
    vault = VaultLib([("default", VaultSecret(PASSWORD))])
    file = canaries.write_given(given / "given.yml", found, lambda text: vault.encrypt(text).decode())
    variables = {
        "TMPDIR": written / "tmp",
        "ANSIBLE_HOME": written / "ansible",
        "ANSIBLE_LOG_PATH": written / "ansible.log",
        **{f"HELM_{kind}_HOME": written / "helm" for kind in ("CACHE", "CONFIG", "DATA")},
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    arguments = ("-e", f"@{file}", "--vault-password-file", str(given / "password"))
    return Scene(space, found, Search(found), arguments, written)


def missing(found: list[Canary], log: str) -> list[str]:
    """Return what the program should have written and did not."""
    # kubectl's output was read as text, in which a carriage return is a line break.
    wanted = (line.replace("\r", "\n") for one in found for line in canaries.expected(one))
    return [line[:200] for line in wanted if f"{line}\n" not in log]


def through_runner(scene: Scene, pipeline: Path) -> tuple[int, str]:
    """Run a pipeline as AWX does; return its exit code and what its events show."""
    shown: list[str] = []
    runner = ansible_runner.run(
        private_data_dir=str(scene.written / "awx"),
        project_dir=str(ROOT),
        playbook="playbooks/train.yml",
        inventory=str(scene.space.inventory),
        extravars={"pipeline": str(pipeline), "runs_dir": str(scene.space.runs)},
        cmdline=" ".join(scene.arguments()),
        envvars={
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "PATH": f"{Path(ansible_playbook()).parent}:{os.environ['PATH']}",
        },
        event_handler=lambda event: shown.append(json.dumps(event)) or True,
        quiet=True,
    )
    return int(runner.rc), "\n".join(shown)


def test_the_search_finds_every_form(tmp_path: Path) -> None:
    """Without it, finding nothing would mean nothing."""
    found = canaries.canaries()
    search = Search(found)
    for canary in found:
        for line in canaries.expected(canary):
            assert search.names(line.encode()) == {canary.name}, line[:200]
            # Half of it is enough.
            assert search.names(canary.text[: len(canary.text) // 2 + 4].encode()) == {canary.name}
    assert search.names(b"nothing") == set()


def test_nothing_is_left_of_a_run_that_is_stopped(scene: Scene) -> None:
    """And the program really writes what is looked for."""
    space, pipeline = scene.space, scene.pipeline(gated=True)
    predicted = space.start("train", *scene.arguments("--check"), pipeline=pipeline).end()
    assert scene.kept(predicted) == {}
    play = space.start("train", *scene.arguments(), pipeline=pipeline, logs="all")
    play.shows(END)
    raw = until(lambda: scene.said_all() and scene.log(), "all is said")
    assert missing(scene.canaries, raw) == []
    assert f"--token={scene.canaries[0].text} --url=" in raw
    assert scene.search.names(raw.encode()) == {one.name for one in scene.canaries}
    assert scene.in_the_cluster(going=True) == {}

    stopped = space.play("stop", *scene.arguments(), release="run")
    followed = play.end(2)
    kept = list(space.runs.glob("*-run-stop-*/east/run/logs/*.log"))
    assert [END in file.read_text(encoding="utf-8") for file in kept] == [True]
    shown = space.play("status", *scene.arguments())
    assert scene.kept(stopped, followed, shown) == {}
    assert scene.in_the_cluster() == {}


def test_nothing_is_left_of_a_run_that_fails_twice(scene: Scene) -> None:
    """Through ansible-runner, with an attempt that is put aside, its last words, and a report."""
    space = scene.space
    rc, shown = through_runner(scene, scene.pipeline(code=3, retries=1))
    assert rc == 2, shown[-3000:]
    assert END in shown
    record = space.record("train")
    assert (record["outcome"], record["attempt"]) == ("failed", 2)
    assert "it failed with ******** and ********" in json.dumps(record) + json.dumps(_pods(space))
    assert (space.evidence("train") / "attempt-1/logs").is_dir()
    assert (space.evidence("train").parents[1] / "report.html").is_file()
    assert scene.kept(shown) == {}
    assert scene.in_the_cluster() == {}


def _pods(space: Space) -> Json:
    return {"text": (space.evidence("train") / "pods.yaml").read_text(encoding="utf-8")}
