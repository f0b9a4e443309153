from __future__ import annotations

import json
import typing as t
from collections.abc import Callable

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._terraform import changes
from ansible_collections.mlops.eks.plugins.module_utils._terraform.changes import Change

Plan = Callable[[str], dict[str, t.Any]]


def row(address: str = "aws_efs_file_system.this", action: str = "replace", reason: str = "") -> Change:
    return Change(address, address.split(".")[-2], action, reason, (), {}, {})


def test_a_plan_is_a_table(plan: Plan) -> None:
    rows = changes.read_changes(plan("plan-replace"))
    assert changes.table(rows) == [
        "replace  terraform_data.cluster  (forced by triggers_replace)",
        "change   terraform_data.network",
        "destroy  terraform_data.nodes[1]  (count is smaller)",
    ]
    assert changes.summary(rows) == "1 to change, 1 to replace, 1 to destroy"


def test_a_new_stack_is_all_created(plan: Plan) -> None:
    rows = changes.read_changes(plan("plan-create"))
    assert changes.summary(rows) == "4 to create"
    assert {row.why() for row in rows} == {""}


def test_the_diff_has_what_differs_and_masks_what_is_sensitive(plan: Plan) -> None:
    document = plan("plan-replace")
    found = changes.diff(changes.read_changes(document), changes.read_outputs(document))
    assert found["before"]["terraform_data.network"] == {"input": 2, "output": 2}
    assert found["after"]["terraform_data.network"] == {"input": 1, "output": "(known after apply)"}
    assert found["after"]["terraform_data.cluster"]["input"] == {"size": 1, "token": "(sensitive)"}
    assert "terraform_data.nodes[1]" not in found["after"]
    assert (found["before"]["outputs"], found["after"]["outputs"]) == ({"size": 2}, {"size": 1})


def test_new_outputs_have_no_before(plan: Plan) -> None:
    assert changes.read_outputs(plan("plan-create")) == (
        {"size": None, "token": None},
        {"size": 2, "token": "(sensitive)"},
    )


def test_every_secret_of_a_plan_is_found(plan: Plan) -> None:
    document = plan("plan-replace")
    # A resource's own output of it, which Terraform does not mark.
    assert '"output":{"size":2,"token":"hidden-token"}' in json.dumps(document, separators=(",", ":"))
    assert set(changes.secrets(document)) == {"hidden-token"}


def test_a_sensitive_attribute_that_changes_is_in_the_diff() -> None:
    entry = {"address": "a.b", "type": "a", "mode": "managed"}
    change = {
        "actions": ["update"],
        "before": {"password": "old-password", "size": 1, "tags": [{"k": "v"}, {"k": "w"}]},
        "after": {"password": "new-password", "size": 1, "tags": [{"k": "v"}, {"k": "x"}]},
        "before_sensitive": {"password": True, "tags": [{}, {"k": True}]},
        "after_sensitive": {"password": True, "tags": [{}, {"k": True}]},
        "after_unknown": {},
    }
    plan = {"resource_changes": [{**entry, "change": change}]}
    (found,) = changes.read_changes(plan)
    masked = {"password": "(sensitive)", "tags": [{"k": "v"}, {"k": "(sensitive)"}]}
    assert (found.before, found.after) == (masked, masked)
    # Too short to be looked for everywhere.
    assert set(changes.secrets(plan)) == {"old-password", "new-password"}


def test_what_is_unknown_inside_a_value_is_said() -> None:
    change = {
        "actions": ["create"],
        "before": None,
        "after": {"vpc_config": [{"subnet_ids": ["a"]}]},
        "after_unknown": {"id": True, "vpc_config": [{"cluster_security_group_id": True, "subnet_ids": [False]}]},
        "before_sensitive": False,
        "after_sensitive": {},
    }
    plan = {"resource_changes": [{"address": "a.b", "type": "a", "mode": "managed", "change": change}]}
    assert changes.read_changes(plan)[0].after == {
        "id": "(known after apply)",
        "vpc_config": [{"subnet_ids": ["a"], "cluster_security_group_id": "(known after apply)"}],
    }


@pytest.mark.parametrize(
    ("actions", "importing", "action"),
    [
        (["no-op"], None, None),
        (["read"], None, None),
        (["create"], None, "create"),
        (["create", "delete"], None, "replace"),
        (["delete", "create"], None, "replace"),
        (["create", "forget"], None, "replace"),
        (["forget", "create"], None, "replace"),
        (["forget"], None, "forget"),
        (["no-op"], {"id": "x"}, "import"),
        (["update"], {"id": "x"}, "import"),
    ],
)
def test_actions_of_a_planned_change(actions: list[str], importing: dict[str, str] | None, action: str | None) -> None:
    change = {"actions": actions, "importing": importing, "before": {}, "after": {}}
    entry = {"address": "a.b", "type": "a", "mode": "managed", "change": change}
    data = {**entry, "address": "data.a.b", "mode": "data", "change": {**change, "actions": ["create"]}}
    found = changes.read_changes({"resource_changes": [entry, data]})
    assert [row.action for row in found] == ([action] if action else [])


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        ([["vpc_config", 0, "subnet_ids"]], "forced by vpc_config[0].subnet_ids"),
        ([["name"], ["role_arn"]], "forced by name, role_arn"),
        ([[]], ""),
        (None, "its creation failed or was interrupted"),
    ],
)
def test_the_attribute_that_forces_a_replacement_is_named(paths: list[list[str | int]] | None, why: str) -> None:
    change = {"actions": ["delete", "create"], "before": {}, "after": {}, "replace_paths": paths}
    reason = "replace_because_tainted" if paths is None else "replace_because_cannot_update"
    entry = {"address": "a.b", "type": "a", "mode": "managed", "change": change, "action_reason": reason}
    assert changes.read_changes({"resource_changes": [entry]})[0].why() == why


KINDS = ["aws_efs_file_system", "aws_eks_cluster"]


@pytest.mark.parametrize(
    ("found", "allowed", "unfinished", "refused"),
    [
        (row(), [], [], True),
        (row(action="destroy"), [], [], True),
        (row(action="change"), [], [], False),
        (row(action="create"), [], [], False),
        (row("module.x.aws_subnet.this"), [], [], False),
        (row(), ["aws_efs_file_system"], [], False),
        (row(), ["aws_efs_file_system.this"], [], False),
        (row(), ["aws_eks_cluster", "aws_efs_file_system.other"], [], True),
        # Tainted by hand, or by a failure after it was in use.
        (row(reason="replace_because_tainted"), [], [], True),
        (row(reason="replace_because_tainted"), [], ["aws_efs_file_system.this"], False),
        # Never complete, but that is not why it goes.
        (row(reason="replace_because_cannot_update"), [], ["aws_efs_file_system.this"], True),
    ],
)
def test_what_holds_data_is_not_lost_unasked(
    found: Change, allowed: list[str], unfinished: list[str], refused: bool
) -> None:
    assert changes.refused([found], KINDS, allowed, unfinished) == ([found] if refused else [])


def test_a_refusal_says_what_why_and_how_to_allow_it(plan: Plan) -> None:
    rows = changes.refused(changes.read_changes(plan("plan-replace")), ["terraform_data"], [], [])
    error = changes.refusal("train", rows)
    assert str(error) == (
        "train: refused, nothing was changed: this would replace terraform_data.cluster (forced by triggers_replace);"
        " destroy terraform_data.nodes[1] (count is smaller), and lose its data. To allow it: allow_replace:"
        " [terraform_data.cluster, 'terraform_data.nodes[1]']."
    )
    assert [entry["address"] for entry in error.details["refused"]] == [
        "terraform_data.cluster",
        "terraform_data.nodes[1]",
    ]


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        (["a.aws_eks_node_group.this"], "and lose what runs on its nodes."),
        (
            ["a.aws_efs_file_system.this", "a.aws_eks_node_group.this"],
            "and lose its data and what runs on its nodes.",
        ),
    ],
)
def test_a_refusal_says_what_is_lost(addresses: list[str], said: str) -> None:
    assert said in str(changes.refusal("train", [row(address, "destroy") for address in addresses]))


def test_a_refusal_to_replace_what_is_tainted_names_the_other_way(plan: Plan) -> None:
    rows = changes.refused(changes.read_changes(plan("plan-tainted")), ["terraform_data"], [], [])
    assert "If its creation did succeed, untaint it." in str(changes.refusal("train", rows))
