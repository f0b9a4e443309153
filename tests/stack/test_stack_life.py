"""A stack's life: planned, made, left alone, changed, refused, destroyed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plays import Play
from stacks import Stack


def test_a_play_shows_its_plan_its_difference_and_every_resource(stack: Stack) -> None:
    looked = Play(stack.play("--check", "--diff")).end()
    assert "train | create   terraform_data.cluster\n" in looked
    assert "train | plan: 3 to create\n" in looked
    assert "input: node-0" in looked
    assert not (stack.data / "terraform.tfstate").exists()
    made = Play(stack.play()).end()
    assert "train | [2/3] created terraform_data.cluster (" in made
    assert "changed=1" in made
    assert "changed=0" in Play(stack.play("--diff")).end()


def test_a_stack_is_made_once_and_removed_once(stack: Stack, tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    made = stack.run(outputs_file=str(file))
    assert made.lines == [
        "plan: 3 to create",
        "begun; Terraform continues to the end even if this play is interrupted",
        "[1/3] created module.network.terraform_data.this",
        "[2/3] created terraform_data.cluster",
        "[3/3] created terraform_data.nodes[0]",
    ]
    assert made.result["changed"] is True
    assert made.result["outputs"] == {"size": 1, "token": "(sensitive)"}
    assert json.loads(file.read_text()) == {"size": 1, "token": "hidden-token"}
    assert file.stat().st_mode & 0o777 == 0o600

    again = stack.run(outputs_file=str(file))
    assert (again.lines, again.result["changed"]) == (["plan: nothing to do"], False)
    assert again.result["outputs"] == made.result["outputs"]
    assert stack.run(check=True).result["outputs"] == made.result["outputs"]

    gone = stack.run(state="absent")
    assert gone.lines[0] == "plan: 3 to destroy"
    assert gone.lines[-1] == "[3/3] destroyed module.network.terraform_data.this"
    assert stack.resources() == []
    assert stack.run(state="absent").result["changed"] is False


def test_nothing_secret_is_told_or_lies_open(stack: Stack) -> None:
    stack.variables = {"token": "very-secret", "command": "echo very-secret"}
    for how in ({"check": True, "diff": True}, {"diff": True}, {"diff": True}):
        ran = stack.run(**how)
        assert "very-secret" not in ran.text + json.dumps(ran.result)
    stack.variables = {"token": "more-secret", "command": "echo more-secret; exit 1", "size": 2}
    assert "more-secret" not in stack.refused(redact=["more-secret"])
    assert stack.data.stat().st_mode & 0o777 == 0o700
    assert (stack.data / "variables.tfvars.json").stat().st_mode & 0o777 == 0o600
    assert not (stack.data / "plan.tfplan").exists()


def test_a_change_shows_its_difference(stack: Stack) -> None:
    stack.run()
    stack.variables = {"size": 2}
    looked = stack.run(check=True, diff=True)
    assert looked.lines == [
        "change   module.network.terraform_data.this",
        "replace  terraform_data.cluster ",
        "create   terraform_data.nodes[1]",
        "plan: 1 to create, 1 to change, 1 to replace",
    ]
    assert looked.result["plan"]["changes"][1] == {
        "action": "replace",
        "address": "terraform_data.cluster",
        "type": "terraform_data",
        "why": "forced by triggers_replace",
    }
    before, after = looked.result["diff"]["before"], looked.result["diff"]["after"]
    assert before["module.network.terraform_data.this"]["input"] == 1
    assert after["module.network.terraform_data.this"]["input"] == 2
    assert after["terraform_data.nodes[1]"]["input"] == "node-1"
    changed = stack.run()
    # A replacement is two operations.
    assert changed.lines[-1].startswith("[4/4] created ")
    assert changed.result["outputs"]["size"] == 2


def test_what_holds_data_is_refused_until_it_is_allowed(stack: Stack) -> None:
    stack.arguments["protected"] = ["terraform_data"]
    stack.run()
    stack.variables = {"size": 2}
    planned = stack.run(state="planned")
    assert planned.result["plan"]["refused"] == ["terraform_data.cluster"]
    assert planned.result["changed"] is False
    said = (
        "train: refused, nothing was changed: this would replace terraform_data.cluster (forced by triggers_replace),"
        " and lose its data. To allow it: allow_replace: [terraform_data.cluster]."
    )
    assert stack.refused() == said
    assert stack.refused(check=True) == said
    assert stack.run(allow_replace=["terraform_data.cluster"]).result["changed"] is True
    assert "destroy module.network.terraform_data.this" in stack.refused(state="absent")
    assert stack.run(state="absent", allow_replace=["terraform_data"]).result["changed"] is True


def test_many_clusters_are_made_from_one_stack_that_is_only_read(stack: Stack, tmp_path: Path) -> None:
    other = Stack(tmp_path, "serve", stack.source)
    other.variables = {"size": 2}
    stack.source.chmod(0o555)
    stack.run()
    other.run()
    stack.source.chmod(0o755)
    assert len(stack.resources()) == 3
    assert len(other.resources()) == 4
    assert sorted(entry.name for entry in stack.source.iterdir()) == ["main.tf"]


def test_settings_that_are_not_there_are_only_warned_of(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", "/no/such/file")
    assert stack.run().result["outputs"]["size"] == 1
    assert stack.run().lines == ["plan: nothing to do"]


def test_the_directory_may_have_any_name(stack: Stack, tmp_path: Path) -> None:
    stack.data = tmp_path / "it's a directory"
    stack.arguments["data_dir"] = str(stack.data)
    stack.run()
    assert len(stack.resources()) == 3


@pytest.mark.parametrize("check", [False, True])
def test_only_an_output_that_changes_is_a_change(check: bool, stack: Stack) -> None:
    stack.run()
    file = stack.source / "main.tf"
    file.write_text(file.read_text() + 'output "more" { value = "more" }\n')
    ran = stack.run(check=check)
    assert (ran.lines, ran.result["changed"]) == (["plan: only outputs change"], True)
    assert ("more" in ran.result["outputs"]) is not check
