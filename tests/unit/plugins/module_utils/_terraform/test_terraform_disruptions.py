"""Which changes of node groups take nodes away, from plans as Terraform writes them."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._terraform import disruptions

ADDRESS = 'module.accelerator_node_groups["p5"].aws_eks_node_group.this'
TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
GROUP: dict[str, t.Any] = {
    "node_group_name": "p5-20260120",
    "cluster_name": "train",
    "capacity_type": "ON_DEMAND",
    "version": "1.35",
    "release_version": "1.35.0-20260120",
    "launch_template": [{"id": "lt-1", "name": "train-p5", "version": "1"}],
    "scaling_config": [{"min_size": 0, "desired_size": 4, "max_size": 8}],
    "taint": [TAINT],
    "labels": {},
    "tags_all": {"team": "ml"},
}


def plan(
    after: dict[str, t.Any] | None,
    before: dict[str, t.Any] | None = None,
    *,
    unknown: t.Any = None,
    actions: str = "update",
) -> t.Any:
    was = {**GROUP, **(before or {})}
    change = {
        "actions": actions.split(),
        "before": was,
        "after": None if after is None else {**was, **after},
        "after_unknown": unknown or {},
    }
    return {"resource_changes": [{"address": ADDRESS, "mode": "managed", "type": disruptions.KIND, "change": change}]}


def sized(desired: int | None) -> dict[str, t.Any]:
    return {"scaling_config": [{"min_size": 0, "desired_size": desired, "max_size": 8}]}


BLOCK = {"capacity_type": "CAPACITY_BLOCK"}
LAUNCHED = {"launch_template": [{"id": True, "name": False, "version": True}]}
OF = f" of node group p5-20260120 ({ADDRESS})"
CASES: dict[str, tuple[t.Any, str]] = {
    "another launch template": (plan({}, unknown=LAUNCHED), "replace all 4 nodes, for launch_template,"),
    "another image": (plan({"release_version": "1.35.0-20260220"}), "replace all 4 nodes, for release_version,"),
    "another version": (
        plan({"version": "1.36"}, unknown={"release_version": True}),
        "replace all 4 nodes, for release_version, version,",
    ),
    "fewer nodes": (plan(sized(1)), "remove 3 of 4 nodes"),
    "a number that is not known": (plan(sized(None)), "change the number"),
    "a taint that evicts": (
        plan({"taint": [TAINT, {"key": "team", "value": None, "effect": "NO_EXECUTE"}]}),
        "evict the pods, by taint team,",
    ),
    "destroyed": (plan(None, actions="delete"), "destroy all 4 nodes"),
    "replaced": (plan({}, actions="create delete"), "destroy all 4 nodes"),
}


@pytest.mark.parametrize("case", CASES)
def test_change_that_removes_nodes(case: str) -> None:
    document, what = CASES[case]
    assert [row.text() for row in disruptions.find(document)] == [what + OF]


@pytest.mark.parametrize(
    "document",
    [
        plan({"tags_all": {"team": "llm"}, "labels": {"a": "b"}}, unknown={"launch_template": [{"version": False}]}),
        plan(sized(6)),
        plan({"taint": []}),
        plan({}, sized(0), unknown=LAUNCHED),
        plan(None, sized(0), actions="delete"),
        plan({}, actions="no-op"),
    ],
    ids=["tags and labels", "more nodes", "a taint less", "no nodes to replace", "no nodes to destroy", "nothing"],
)
def test_change_that_removes_no_node(document: t.Any) -> None:
    assert disruptions.find(document) == []


def test_a_new_group_removes_no_node() -> None:
    change = {"actions": ["create"], "before": None, "after": GROUP, "after_unknown": {"id": True}}
    entry = {"address": ADDRESS, "mode": "managed", "type": disruptions.KIND, "change": change}
    assert disruptions.find({"resource_changes": [entry]}) == []


def refusal(document: t.Any, *allowed: str) -> ConflictError:
    with pytest.raises(ConflictError) as refused:
        disruptions.refuse("train", disruptions.find(document), allowed, {"handover": {}})
    assert "\n" not in str(refused.value)
    return refused.value


def test_a_change_that_removes_nodes_is_refused_unless_allowed() -> None:
    document = plan(sized(1))
    error = refusal(document, "aws_efs_file_system")
    assert str(error) == (
        f"train: refused, nothing was changed: this would remove 3 of 4 nodes{OF}, and end what runs there."
        f" If nothing runs there, or it may end, set allow_disruption: ['{ADDRESS}']."
    )
    (row,) = error.details["disruptions"]
    assert (row["group"], row["nodes"], error.details["outputs"]) == ("p5-20260120", 4, {"handover": {}})
    for allowed in (ADDRESS, disruptions.KIND):
        disruptions.refuse("train", disruptions.find(document), [allowed], {})


def test_a_capacity_block_is_updated_only_at_zero_nodes() -> None:
    error = refusal(plan({}, BLOCK, unknown=LAUNCHED), disruptions.KIND)
    assert "a group of a Capacity Block is updated only while it has no node" in str(error)
    said = "--cluster-name train --nodegroup-name p5-20260120 --scaling-config minSize=0,desiredSize=0`"
    assert said in str(error)
    assert "disruptions" not in error.details
    # It may become smaller, or go; and what was scaled to zero is updated and scaled back.
    for document in (plan(sized(0), BLOCK), plan(None, BLOCK, actions="delete")):
        disruptions.refuse("train", disruptions.find(document), [disruptions.KIND], {})
    assert disruptions.find(plan(sized(2), BLOCK | sized(0), unknown=LAUNCHED)) == []
