# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The digits pipelines: their steps find what the steps before them left."""

from __future__ import annotations

from typing import Any

import pytest
from recipe_cases import CASES, RECIPES, Case, containers, documents

BY_STEP = {(case.directory.name, case.step.name): case for case in CASES}


def environment(case: Case) -> dict[str, str]:
    """Return the variables of a step's main container."""
    (first, *_others) = [found for document in documents(case) for found in containers(document)]
    return {entry["name"]: entry["value"] for entry in first["env"]}


@pytest.mark.parametrize(("pipeline", "step"), [key for key in BY_STEP if key[0].startswith("digits")])
def test_every_step_works_under_the_pipeline_s_release(pipeline: str, step: str) -> None:
    """Also `serve`, whose own release is another."""
    found = environment(BY_STEP[pipeline, step])
    expected = {
        "HOME": f"/efs/home/{pipeline}",
        "DATA_ROOT": f"/fsx/home/{pipeline}",
        "CKPT_ROOT": f"/efs/home/{pipeline}/checkpoints",
    }
    shared = found.keys() & expected.keys()
    assert "HOME" in shared
    assert {name: found[name] for name in shared} == {name: expected[name] for name in shared}


def test_call_reaches_the_service_that_serve_leaves() -> None:
    serve = BY_STEP["digits", "serve"]
    assert serve.release == "digits-serve"
    (service,) = [document for document in documents(serve) if document["kind"] == "Service"]
    port: Any = service["spec"]["ports"][0]["port"]
    assert environment(BY_STEP["digits", "call"])["SERVICE_URL"] == f"http://{service['metadata']['name']}:{port}"


def test_both_pipelines_share_the_data_step() -> None:
    digits, torch = (RECIPES / "demo" / name / "data.yaml" for name in ("digits", "digits-torch"))
    assert digits.read_text() == torch.read_text()
