# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Limits have one table: modules, role, play and docs say what it says, and none of them ends work by default."""

from __future__ import annotations

import importlib
import json
import math
import re
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.mlops.eks.plugins.module_utils._aws.account import eks_leftovers
from ansible_collections.mlops.eks.plugins.module_utils._aws.fsx_export import fsx_export
from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._engine import entrypoints
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules
from ansible_collections.mlops.eks.plugins.module_utils._local.entrypoints import kube_apply
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import waits
from ansible_collections.mlops.eks.plugins.module_utils._terraform.entrypoints import terraform_stack

ROOT = Path(__file__).resolve().parents[2]
FOLLOWING = ("helm_step", "workload_wait", "mpi_job_wait")
# What is not set for each step, but for the controller that follows it.
STEP_ONLY = set(limits.STEP_LIMITS)
BY_CONTROLLER = {"heartbeat", "lock_timeout", "api_retry_timeout"}


def spec(module: str) -> dict[str, t.Any]:
    found = importlib.import_module(f"ansible_collections.mlops.eks.plugins.modules.{module}")
    return t.cast(dict[str, t.Any], found.ARGUMENT_SPEC)


def params(**more: t.Any) -> dict[str, t.Any]:
    return {**{name: limit.default for name, limit in limits.ALL.items()}, **more}


@pytest.mark.parametrize("module", FOLLOWING)
def test_modules_take_their_defaults_from_the_table(module: str) -> None:
    options = spec(module)
    found = {name: options[name]["default"] for name in limits.ALL if name in options}
    assert found == {name: limits.ALL[name].default for name in found}
    assert STEP_ONLY - {"retries", "retry_backoff", "leftover_grace", "ready_timeout"} <= found.keys()


@pytest.mark.parametrize("name", sorted(STEP_ONLY | BY_CONTROLLER))
def test_role_and_play_have_the_same_defaults_and_hand_them_on(name: str) -> None:
    defaults = yaml.safe_load((ROOT / "roles/pipeline/defaults/main.yml").read_text(encoding="utf-8"))
    assert defaults[f"pipeline_{name}"] == limits.ALL[name].default
    play = (ROOT / "playbooks/train.yml").read_text(encoding="utf-8")
    assert f'pipeline_{name}: "{{{{ {name} | default({limits.ALL[name].default:g}) }}}}"' in play
    step = (ROOT / "roles/pipeline/tasks/step.yml").read_text(encoding="utf-8")
    own = f"__pipeline_step.limits.{name} | default(pipeline_{name})" if name in STEP_ONLY else f"pipeline_{name}"
    assert f'{name}: "{{{{ {own} }}}}"' in step


def test_a_step_that_runs_or_waits_for_capacity_has_no_limit_by_default() -> None:
    named = ("timeout", "no_output_timeout", "pending_timeout", "unschedulable_grace")
    assert [limits.STEP_LIMITS[name].default for name in named] == [0, 0, 0, 0]
    found = waits(params())
    assert (found.timeout, found.no_output, found.pending) == (math.inf, math.inf, math.inf)
    assert found.grace == GracePeriods()
    rules = t.cast(t.Any, Rules.__dataclass_fields__)
    assert (rules["timeout"].default, rules["pending_timeout"].default) == (math.inf, math.inf)


def test_zero_is_no_limit_for_each() -> None:
    found = waits(dict.fromkeys(limits.ALL, 0))
    seconds = (found.timeout, found.no_output, found.pending, found.heartbeat, found.lock, found.leftover, found.ready)
    assert set(seconds) == {math.inf}
    assert set(vars(found.grace).values()) == {math.inf}


@pytest.mark.parametrize("name", limits.ALL)
@pytest.mark.parametrize("value", [-1, -0.5, math.nan, math.inf, -math.inf, 10**9 + 1, 10**400])
def test_what_makes_no_sense_is_refused(name: str, value: float) -> None:
    least = limits.ALL[name].least
    with pytest.raises(InvalidInputError) as caught:
        limits.check(params(**{name: value}))
    assert str(caught.value).startswith(f"{name}: expected a number from {least} to 1000000000, found ")


@pytest.mark.parametrize(
    ("engine", "how"),
    [
        (entrypoints.helm_step, {"cluster": "c", "check": False, "diff": False}),
        (entrypoints.workload_wait, {"cluster": "c"}),
        (entrypoints.cluster_cleanup, {"cluster": "c", "check": False}),
        (terraform_stack, {"cluster": "c", "check": False, "diff": False}),
        (eks_leftovers, {"check": False}),
        (fsx_export, {"check": False}),
        (kube_apply, {"check": False}),
    ],
)
def test_nothing_is_asked_with_a_limit_that_makes_no_sense(engine: t.Any, how: dict[str, t.Any]) -> None:
    said: list[str] = []
    with pytest.raises(InvalidInputError, match="timeout: expected a number from 0 to 1000000000, found -1"):
        engine({"redact": None, "timeout": -1}, say=said.append, **how)
    assert said == []


def test_at_least_one_log_is_read() -> None:
    with pytest.raises(InvalidInputError, match=r"log_streams: expected a number from 1 to 1000000000, found 0\."):
        limits.check(params(log_streams=0))


@pytest.mark.parametrize("name", sorted(STEP_ONLY))
def test_docs_tell_each_with_its_default(name: str) -> None:
    causes = (ROOT / "docs/causes.md").read_text(encoding="utf-8")
    default = json.dumps(limits.STEP_LIMITS[name].default).removesuffix(".0")
    assert re.search(rf"^\| {default} \| `{name}` \|", causes, re.MULTILINE), f"{default} | `{name}`"
