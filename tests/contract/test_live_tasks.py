# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What Ansible's own keywords mean for a task whose engine runs in the controller's worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from ansible.parsing.vault import VaultLib, VaultSecret
from fakes.http import Server

ROOT = Path(__file__).resolve().parents[2]
Task = dict[str, t.Any]
Play = Callable[..., list[dict[str, t.Any]]]
# A token made of what the environment says.
PLUGIN = """echo '{"status": {"token": "'"$AWS_PROFILE-$PLAYED"'"}}'"""
READ = "mlops.eks.pipeline_info"
PIPELINE = "recipes/demo/digits"


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Run tasks, which may fail, on this machine; return their results."""

    def run(*tasks: Task, arguments: tuple[str, ...] = (), **keywords: t.Any) -> list[dict[str, t.Any]]:
        named = [{**task, "register": f"task_{index}", "ignore_errors": True} for index, task in enumerate(tasks)]
        results = ", ".join(f"task_{index}" for index in range(len(tasks)))
        content = "{{ [" + results + "] | to_json }}"
        last = {"ansible.builtin.copy": {"content": content, "dest": str(tmp_path / "results.json")}}
        document = [
            {"hosts": "localhost", "gather_facts": False, "tasks": [*named, {**last, "environment": {}}], **keywords}
        ]
        (tmp_path / "play.yml").write_text(yaml.safe_dump(document), encoding="utf-8")
        command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "localhost,", "-c", "local"]
        variables = {"ansible_python_interpreter": sys.executable}
        done = subprocess.run(
            [*command, *arguments, "-e", json.dumps(variables), str(tmp_path / "play.yml")],
            cwd=ROOT, env={**os.environ, "NO_COLOR": "1", "AWS_PROFILE": "own"}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return t.cast(list[dict[str, t.Any]], json.loads((tmp_path / "results.json").read_text(encoding="utf-8")))

    return run


def kubeconfig(directory: Path, server: str) -> str:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", PLUGIN]}
    document = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": server}}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "users": [{"name": "u", "user": {"exec": plugin}}],
    }
    (directory / "kubeconfig").write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(directory / "kubeconfig")


def test_environment_reaches_what_the_engine_starts_and_nothing_else(play: Play, tmp_path: Path) -> None:
    server = Server(lambda exchange: exchange.reply({"items": []}))
    read: Task = {"mlops.eks.run_info": {"kubeconfig": kubeconfig(tmp_path, server.url)}}
    try:
        results = play(
            {**read, "environment": {"AWS_PROFILE": "{{ 'tr' ~ 'ain' }}", "PLAYED": 1}},
            {**read, "environment": {"AWS_PROFILE": "{{ item }}"}, "loop": ["one", "two"]},
            {**read, "environment": [{"AWS_PROFILE": "first"}, {"AWS_PROFILE": "later"}]},
            read,
            environment={"PLAYED": "play"},
        )
    finally:
        server.close()
    assert [result["failed"] for result in results] == [False] * 4
    tokens = [str(request.headers["Authorization"]).removeprefix("Bearer ") for request in server.requests]
    # Some tasks ask more than once.
    assert list(dict.fromkeys(tokens)) == ["train-1", "one-play", "two-play", "later-play", "own-play"]


def test_no_error_shows_a_vaulted_variable_nor_what_is_made_of_it(play: Play, tmp_path: Path) -> None:
    """`train.yml` checks all values before any cluster is asked: what is wrong is quoted."""
    password = tmp_path / "password"
    password.write_text("of a vault", encoding="utf-8")
    vault = VaultLib([("default", VaultSecret(b"of a vault"))])
    lines = vault.encrypt("hunter2/of the vault").decode().splitlines()
    text = "\n".join(["token: !vault |", *(f"  {line}" for line in lines), "other: named/secret"])
    (tmp_path / "variables.yml").write_text(text, encoding="utf-8")

    def read(value: str, **more: t.Any) -> Task:
        return {READ: {"pipeline": PIPELINE, "recipe_values": {"resources": value}, **more}}

    results = play(
        read("{{ token }}"), read("u:{{ token | urlencode }}"), read("{{ other }}", redact=["{{ other }}"]),
        vars_files=[str(tmp_path / "variables.yml")], arguments=("--vault-password-file", str(password)),
    )  # fmt: skip
    said = [result["msg"] for result in results]
    assert ["found '********'" in said[0], "found 'u:********'" in said[1], "found '********'" in said[2]] == [True] * 3


def test_what_cannot_be_done_is_refused_in_one_line(play: Play) -> None:
    read: Task = {READ: {"pipeline": PIPELINE}}
    name, background, nobody, system = play(
        {**read, "environment": {"A=B": "x"}}, {**read, "async": 60, "poll": 0},
        {**read, "become": True, "become_user": "nobody", "become_method": "ansible.builtin.su", "become_exe": "false"},
        {READ: {"pipeline": f"/{'a' * 300}"}},
    )  # fmt: skip
    assert name["msg"].startswith("environment: variable 'A=B' cannot be set: illegal")
    assert background["msg"].startswith("mlops.eks.pipeline_info: 'async' is not supported. Remove it:")
    # Become is Ansible's to do: the engine must not run as who we are.
    assert nobody["failed"] is True
    assert system["msg"].startswith(f"pipeline_info: /{'a' * 300}: the name is too long. Use a shorter path")
    assert "pipeline" not in nobody


def test_a_task_of_our_own_user_or_delegated_here_runs_here(play: Play) -> None:
    read: Task = {READ: {"pipeline": PIPELINE}}
    user = os.environ.get("USER", "root")
    results = play(
        {**read, "become": True, "become_user": user, "become_exe": "false"}, {**read, "delegate_to": "127.0.0.1"}
    )
    assert [result["pipeline"]["name"] for result in results] == ["digits", "digits"]


def test_values_are_what_helm_reads_whatever_ansible_makes_of_them(play: Play) -> None:
    def read(value: str) -> Task:
        values = yaml.safe_load(f"{{scheduler_name: {value}}}")
        return {READ: {"pipeline": PIPELINE, "only_steps": ["data"], "recipe_values": values}}

    date, number = play(read("2026-11-22"), read(".nan"))
    assert "msg" not in date
    assert number["msg"].startswith("recipe_values.scheduler_name: nan is not a number that Helm or JSON has.")
