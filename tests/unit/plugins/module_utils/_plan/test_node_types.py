# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Requests that no node of the named instance type can give are refused with their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._aws.instance_table import OF
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._plan.checks import pipeline_info
from ansible_collections.mlops.eks.plugins.module_utils._plan.node_types import check_node_types
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import parse


def said(text: str) -> str:
    source = parse(text, name="r.yaml")
    try:
        check_node_types(source.data, layers([source]), "team/app")
    except InvalidInputError as error:
        return str(error).removesuffix(f" [EC2 data of {OF}; chart team/app]")
    return ""


def resources(node_type: str, more: str, head: str = "") -> str:
    return f"{head}resources:\n  node_type: {node_type}\n  {more}\n"


EFA = "limits: {vpc.amazonaws.com/efa: %s}"
CORES = "nproc_per_node: %d\n  requests: {aws.amazon.com/neuron: %s}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            resources("g5.2xlarge", EFA % 1),
            "r.yaml:3: resources.limits.vpc.amazonaws.com/efa: asks for 1, but g5.2xlarge has no EFA. "
            "Choose another node_type, or ask for less.",
        ),
        (
            resources("p4d.24xlarge", EFA % '"32"'),
            "r.yaml:3: resources.limits.vpc.amazonaws.com/efa: asks for 32, but p4d.24xlarge has 4. "
            "Choose another node_type, or ask for less.",
        ),
        (
            resources("[g5.2xlarge, g5.4xlarge]", EFA % 1),
            "r.yaml:3: resources.limits.vpc.amazonaws.com/efa: asks for 1, but g5.2xlarge or g5.4xlarge has no EFA. "
            "Choose another node_type, or ask for less.",
        ),
        (
            resources("trn1.32xlarge", CORES % (64, 16)),
            "r.yaml:3: resources.nproc_per_node: asks for 64, but the 16 Neuron devices asked for have 32 cores on "
            "trn1.32xlarge. Lower it, or ask for more devices.",
        ),
    ],
)
def test_what_no_node_can_give_is_refused(text: str, message: str) -> None:
    assert said(text) == message


def test_the_resources_of_a_role_are_checked_too() -> None:
    text = "workers:\n  - name: a\n    resources: {node_type: g5.2xlarge, requests: {vpc.amazonaws.com/efa: 4}}\n"
    assert said(text).startswith("r.yaml:3: workers.0.resources.requests.vpc.amazonaws.com/efa: asks for 4, but")


@pytest.mark.parametrize(
    "text",
    [
        resources("p5.48xlarge", EFA % 32),
        resources("p4d.24xlarge", EFA % 0),
        resources("[g5.2xlarge, p4d.24xlarge]", EFA % 4),
        # Types of next year, and those that the table leaves out.
        resources("p9.48xlarge", EFA % 64),
        resources("[g5.2xlarge, p9.48xlarge]", EFA % 64),
        resources("", EFA % 4),
        resources("g5.2xlarge", EFA % "many"),
        resources("g5.2xlarge", "limits:"),
        resources("trn1.32xlarge", CORES % (32, 16)),
        resources("inf2.48xlarge", CORES % (24, 12)),
        # 8 physical cores a device; how many make a logical one is the program's choice.
        resources("trn2.48xlarge", CORES % (64, 16)),
        resources("trn2.48xlarge", CORES % (128, 16)),
        # Nobody knows how many devices it has.
        resources("trn2u.48xlarge", CORES % (512, 16)),
        resources("trn1.32xlarge", "nproc_per_node: auto\n  requests: {aws.amazon.com/neuron: 1}"),
        "resources: [1]\n",
    ],
)
def test_what_a_node_may_give_is_not_refused(text: str) -> None:
    assert said(text) == ""


def test_a_pipeline_is_refused_before_its_first_step(tmp_path: Path) -> None:
    recipe = {"image": "x:1", "process": {"command": ["true"]}, "resources": {"limits": {"vpc.amazonaws.com/efa": 1}}}
    (tmp_path / "one.yaml").write_text(json.dumps({**recipe, "resources": {}}))
    (tmp_path / "two.yaml").write_text(json.dumps(recipe))
    steps = [
        {"name": "one", "chart": "data-prep/data-process", "recipe": "one.yaml"},
        {
            "name": "two",
            "chart": "data-prep/data-process",
            "recipe": "two.yaml",
            "values": {"resources": {"node_type": "g5.2xlarge"}},
        },
    ]
    (tmp_path / "pipeline.yaml").write_text(json.dumps({"name": "p", "steps": steps}))
    params = {"pipeline": str(tmp_path), "release": None, "from_step": None, "only_steps": None, "recipe_values": None}
    with pytest.raises(InvalidInputError, match=r"two\.yaml:1: resources\.limits\.vpc.* but g5\.2xlarge has no EFA"):
        pipeline_info(params)
