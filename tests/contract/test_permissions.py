"""docs/examples/permissions.yaml grants what is used: all kinds that are followed, and all that charts render."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import KINDS
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import Ref
from ansible_collections.mlops.eks.plugins.module_utils._kube.rights import Right, rights_to_follow

ROOT = Path(__file__).resolve().parents[2]
RENDERED = sorted((ROOT / "tests/golden/charts").rglob("*.yaml"))
# Of kinds that are not followed, how the API calls them.
BESIDE = {
    "ConfigMap": "configmaps",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "NetworkPolicy": "networkpolicies",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "Secret": "secrets",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "TrainingRuntime": "trainingruntimes",
}
BY_HELM = ("get", "create", "patch", "delete")


def granted() -> set[Right]:
    documents = yaml.safe_load_all((ROOT / "docs/examples/permissions.yaml").read_text(encoding="utf-8"))
    (role,) = [one for one in documents if one["kind"] == "Role" and "namespace" not in one["metadata"]]
    return {
        Right(verb, group, resource)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


@pytest.mark.parametrize("row", KINDS.values(), ids=lambda row: t.cast(str, row.kind))
def test_every_kind_is_followed(row: t.Any) -> None:
    assert set(rights_to_follow(Ref(row.api_version, row.kind, row.plural, "team", "x"))) <= granted()


def test_what_charts_render_is_installed_and_removed() -> None:
    plurals = {**BESIDE, **{row.kind: row.plural for row in KINDS.values()}}
    rendered = [one for path in RENDERED for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]
    assert {one["kind"] for one in rendered} >= {"Job", "Service"}
    needed = {Right(verb, group(one["apiVersion"]), plurals[one["kind"]]) for one in rendered for verb in BY_HELM}
    # Nobody can grant a right that he does not have.
    for role in (one for one in rendered if one["kind"] == "Role"):
        for rule in role["rules"]:
            needed |= {Right(verb, "", resource) for verb in rule["verbs"] for resource in rule["resources"]}
    assert needed <= granted()


def test_nothing_is_granted_wholesale() -> None:
    assert "*" not in {word for right in granted() for word in right}
