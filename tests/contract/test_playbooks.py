# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Playbooks on inventories that are not what they are for: a play that does nothing must not end well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A cluster that is neither made by the stack nor a local one.
INVENTORY = """
clusters:
  vars:
    ansible_connection: local
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  hosts:
    mine: {kubeconfig: /nowhere}
"""


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    """An inventory of one cluster."""
    (tmp_path / "inventory.yml").write_text(INVENTORY, encoding="utf-8")
    return tmp_path / "inventory.yml"


def play(playbook: str, inventory: Path, *arguments: str) -> tuple[int, str]:
    """Run a playbook; return its code and what it said, on one line."""
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(inventory), f"playbooks/{playbook}.yml"]
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("playbook", "wanted", "arguments"),
    [
        ("cluster", "eks", ()),
        ("preflight", "eks", ()),
        ("teardown", "eks", ("-e", "confirm_destroy=mine")),
        ("local_cluster", "local", ()),
        ("train", "trian", ("-e", "target=trian")),
    ],
)
def test_an_inventory_without_the_clusters_it_is_for_is_refused(
    playbook: str, wanted: str, arguments: tuple[str, ...], inventory: Path
) -> None:
    code, said = play(playbook, inventory, *arguments)
    assert code == 2, said
    assert f"no cluster: the inventory has no host that matches '{wanted}'" in said


def test_tags_of_another_play_leave_train_alone(tmp_path: Path, inventory: Path) -> None:
    site = tmp_path / "site.yml"
    site.write_text("- hosts: mine\n  gather_facts: false\n  tags: other\n  tasks: [{ansible.builtin.meta: noop}]\n")
    code, said = play("train", inventory, str(site), "--tags", "other")
    assert code == 0, said


@pytest.mark.parametrize(
    ("playbook", "arguments", "sentence"),
    [
        ("train", (), "no pipeline: name the directory that holds its pipeline.yaml: -e pipeline=DIRECTORY"),
        ("serve", ("-e", "pipeline="), "no pipeline: name the directory that holds its pipeline.yaml"),
        ("stop", (), "no run to stop: set 'release' to its name, or 'pipeline' to its directory."),
        ("preflight", ("-e", "target=mine"), "no region: set the host variable 'region' of mine (docs/inventory.md)"),
        ("cluster", ("-e", "target=mine"), "no region: set the host variable 'region' of mine (docs/inventory.md)"),
        ("teardown", ("-e", "target=mine"), "no region: set the host variable 'region' of mine (docs/inventory.md)"),
    ],
)
def test_a_missing_variable_is_one_sentence(
    playbook: str, arguments: tuple[str, ...], sentence: str, inventory: Path
) -> None:
    code, said = play(playbook, inventory, *arguments)
    assert code == 2, said
    assert f"[ERROR]: Task failed: Action failed: {sentence}" in said
    assert said.count("[ERROR]") == 1
    assert "Finalization" not in said
