# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Variables of the playbooks: those they read are known, and one that is misspelt is refused by every playbook."""

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jinja2 import Environment, nodes

from ansible_collections.mlops.eks.plugins.lookup.misspelt_variables import PLAYBOOKS, RENAMED, misspelt

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "playbooks").glob("*.yml"))
# What Ansible, or a playbook itself, sets.
SET = {
    "ansible_check_mode", "ansible_play_hosts", "ansible_play_hosts_all", "checked", "default_target", "hostvars",
    "inventory_hostname", "local_cluster_result", "omit", "playbook_dir", "query",
}  # fmt: skip


def variables_of_roles() -> set[str]:
    found = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in ROOT.glob("roles/*/meta/argument_specs.yml")]
    return {name for one in found for spec in one["argument_specs"].values() for name in spec.get("options") or ()}


def texts(document: t.Any, *, condition: bool = False) -> Iterator[str]:
    """Yield the templates in a playbook; what stands under `when` is one without braces."""
    if isinstance(document, str):
        yield "{{ " + document + " }}" if condition else document
    elif isinstance(document, dict):
        for key, entry in document.items():
            yield from texts(entry, condition=key in ("when", "until", "failed_when", "changed_when"))
    elif isinstance(document, list):
        for entry in document:
            yield from texts(entry, condition=condition)


def set_in(document: t.Any) -> set[str]:
    """Return the names that a playbook gives values: of `vars`, and results that are registered."""
    if isinstance(document, list):
        return {name for entry in document for name in set_in(entry)}
    if not isinstance(document, dict):
        return set()
    own = set(document.get("vars") or ()) | ({document["register"]} if "register" in document else set())
    return own | {name for entry in document.values() for name in set_in(entry)}


def read_in(path: Path) -> set[str]:
    """Return the variables that a playbook reads and nobody has set."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for text in texts(document):
        names = Environment(autoescape=False).parse(text).find_all(nodes.Name)
        found |= {name.name for name in names if name.ctx == "load"}
    # What a playbook sets for another it imports may be given by the user, too.
    return found - (set_in(document) - set(PLAYBOOKS)) - SET


def test_what_the_playbooks_read_is_known_and_nothing_else() -> None:
    read = set().union(*map(read_in, FILES))
    assert read - variables_of_roles() == set(PLAYBOOKS)


def test_every_playbook_looks_at_its_variables() -> None:
    def imports(path: Path) -> Iterator[str]:
        for play in yaml.safe_load(path.read_text(encoding="utf-8")):
            if name := play.get("ansible.builtin.import_playbook"):
                yield name
                yield from imports(path.parent / name)

    assert [path.name for path in FILES if path.name != "clusters.yml" and "clusters.yml" not in imports(path)] == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("relase", "release"), ("pipline", "pipeline"), ("form_step", "from_step"), ("run_dir", "runs_dir"),
        ("kube_namepsace", "kube_namespace"), ("local_cluster_sate", "local_cluster_state"),
        ("confirm_destory", "confirm_destroy"),
    ],
)  # fmt: skip
def test_a_slip_is_found(name: str, meant: str) -> None:
    (said,) = misspelt([name, "release"])
    assert said.startswith(f"Extra variable {name!r} is not known. Did you mean {meant!r}?")


@pytest.mark.parametrize("name", RENAMED)
def test_a_renamed_variable_is_refused_with_its_new_name(name: str) -> None:
    assert list(misspelt([name])) == [f"Extra variable {name!r} was renamed. Use {RENAMED[name]!r}."]
    assert RENAMED[name] in {*PLAYBOOKS, *variables_of_roles()}


def test_what_is_somebody_elses_is_left_alone() -> None:
    ours = [*PLAYBOOKS, *variables_of_roles()]
    theirs = [
        "ansible_user",
        "awx_job_id",
        "tower_user_name",
        "team",
        "namespace",
        "my_release_date",
        "environment_name",
    ]
    assert list(misspelt([*ours, *theirs])) == []


@pytest.mark.parametrize(
    ("playbook", "wrong", "meant"), [("train", "relase", "release"), ("stop", "pipelin", "pipeline")]
)
def test_a_playbook_refuses_a_misspelt_variable_even_with_a_limit(
    playbook: str, wrong: str, meant: str, tmp_path: Path
) -> None:
    hosts: dict[str, t.Any] = {"clusters": {"hosts": {"mine": {"kubeconfig": "/nowhere"}, "other": {}}}}
    (tmp_path / "inventory.yml").write_text(yaml.safe_dump(hosts), encoding="utf-8")
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(tmp_path / "inventory.yml")]
    done = subprocess.run(
        [*command, f"playbooks/{playbook}.yml", "-l", "mine", "-e", f"{wrong}=x", "-e", '{"team": "a"}'],
        cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2, said
    assert f"Extra variable '{wrong}' is not known. Did you mean '{meant}'?" in said
    assert "team" not in said
