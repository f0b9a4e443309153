# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The task of a step: the parameters of its module, parsed and validated once."""

from __future__ import annotations

import math
import re
import secrets
import time
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import Storage
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.causes import GracePeriods
from ansible_collections.mlops.eks.plugins.module_utils._follow.state import Rules
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.expressions import Expression, parse
from ansible_collections.mlops.eks.plugins.module_utils._kube.kinds.table import Kind
from ansible_collections.mlops.eks.plugins.module_utils._logs.console import Shown
from ansible_collections.mlops.eks.plugins.module_utils._logs.pool import STREAMS
from ansible_collections.mlops.eks.plugins.module_utils._plan.retry import Retry
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart
from ansible_collections.mlops.eks.plugins.module_utils._recipe.declared_secrets import DeclaredSecrets
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import (
    check_release,
    helm_release,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.progress import progress_pattern


@dataclass(frozen=True, kw_only=True)
class Waits:
    """The time limits of a step in seconds; infinite means no limit."""

    timeout: float = limits.default("timeout")
    ready: float = limits.default("ready_timeout")
    no_output: float = limits.default("no_output_timeout")
    pending: float = limits.default("pending_timeout")
    heartbeat: float = limits.default("heartbeat")
    lock: float = limits.default("lock_timeout")
    leftover: float = limits.default("leftover_grace")
    grace: GracePeriods = field(default_factory=GracePeriods)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One step of one run on one cluster.

    `release` is the name of the run, `helm_release` that of the Helm release: they differ for a step that is kept.
    `after` names the earlier steps; if one of them runs again, an older success of this step is stale.
    """

    cluster: str
    namespace: str
    release: str
    step: str
    chart: str
    run_id: str
    runs_dir: Path
    recipes: tuple[str, ...] = ()
    values: Mapping[str, t.Any] = field(default_factory=dict)
    declared: DeclaredSecrets = field(default_factory=DeclaredSecrets, compare=False)
    pipeline: str = ""
    index: int = 1
    total: int = 1
    keep: bool = False
    replace: bool = False
    force: bool = False
    # Whether templates in values may use `lookup` and other functions that read from outside of the chart.
    allow_lookup: bool = False
    # Whether a Helm release that this collection did not install may be taken over.
    adopt: bool = False
    cleanup: str = "always"
    after: tuple[str, ...] = ()
    # Helm releases of later steps. Each must be free or the run's before this step starts.
    later_releases: tuple[str, ...] = ()
    # The object that decides the step, as `Kind` or `Kind/name`; `None` chooses it by kind.
    workload: str | None = None
    until: Expression | None = None
    fail_on: tuple[Expression, ...] = ()
    progress: re.Pattern[str] | None = None
    retry: Retry = field(default_factory=Retry)
    waits: Waits = field(default_factory=Waits)
    logs: Shown = "leader"
    log_streams: int = STREAMS
    # The secrets that no line and no file may contain, and whether only its owner may read the evidence.
    mask: Mask = field(default_factory=Mask, compare=False)
    private: bool = False
    storage: Storage = field(default_factory=Storage, compare=False)
    user: str = ""

    @property
    def helm_release(self) -> str:
        """The Helm release of this step."""
        return helm_release(self.release, self.step, keep=self.keep and self.step != self.release)

    @property
    def place(self) -> str:
        """The position of the step, such as `step 2/5 train`."""
        return f"step {self.index}/{self.total} {self.step}"

    @property
    def evidence(self) -> Path:
        """The step's evidence directory."""
        # File systems limit names to 255 bytes; the name of a followed workload may have 253.
        return self.runs_dir / self.run_id / self.cluster / f"{self.index:02d}-{self.step}"[:255]


def waits(params: Mapping[str, t.Any]) -> Waits:
    """Return the time limits of a module's checked parameters."""
    found = {name: limits.unlimited(value) for name, value in params.items() if name in limits.ALL}
    return Waits(
        timeout=found["timeout"],
        ready=found.get("ready_timeout", limits.default("ready_timeout")),
        no_output=found["no_output_timeout"],
        pending=found["pending_timeout"],
        heartbeat=found["heartbeat"],
        lock=found.get("lock_timeout", limits.default("lock_timeout")),
        leftover=found.get("leftover_grace", limits.default("leftover_grace")),
        grace=GracePeriods(
            image=found["image_pull_grace"],
            config=found["config_grace"],
            volume=found["volume_grace"],
            unschedulable=found["unschedulable_grace"],
            infeasible=found["infeasible_grace"],
            failure=found["failure_grace"],
            lost_rank=found["lost_rank_grace"],
            max_restarts=found["max_restarts"],
        ),
    )


def rules(
    task: Task,
    kind: Kind,
    name: str,
    *,
    started: float,
    earlier_seconds: float = 0.0,
    had_nodes: bool = False,
    serves: bool = False,
) -> Rules:
    """Return the rules for workload `name`; see `Rules` for `earlier_seconds` and `had_nodes`.

    `serves` says that it was ready before: the time until it is ready again is limited.
    """
    return Rules(
        kind=kind,
        name=name,
        started=started,
        earlier_seconds=earlier_seconds,
        had_nodes=had_nodes,
        timeout=task.waits.timeout,
        ready_timeout=task.waits.ready if serves else math.inf,
        no_output_timeout=task.waits.no_output,
        pending_timeout=task.waits.pending,
        heartbeat=task.waits.heartbeat,
        grace=task.waits.grace,
        progress=task.progress,
        until=task.until,
        fail_on=task.fail_on,
    )


def following(params: Mapping[str, t.Any], mask: Mask, *, private: bool) -> dict[str, t.Any]:
    """Return the fields of a task for following its workload.

    Raises:
        InvalidInputError: an expression is malformed.
    """
    return {
        "run_id": params["run_id"] or new_run_id(params.get("pipeline") or params.get("release") or params["name"]),
        "runs_dir": Path(params["runs_dir"]).expanduser().absolute(),
        "until": parse(params["until"]) if params["until"] else None,
        "fail_on": tuple(parse(text) for text in params["fail_on"] or ()),
        "progress": progress_pattern(params["progress"]) if params["progress"] else None,
        "waits": waits(params),
        "logs": params["logs"],
        "log_streams": params["log_streams"],
        "mask": mask,
        "private": private,
    }


def step_task(
    params: Mapping[str, t.Any], chart: Chart, *, cluster: str, mask: Mask | None = None, private: bool = False
) -> Task:
    """Return the task of `helm_step` for its parameters and the `chart` that they name.

    Raises:
        InvalidInputError: a name or an expression is malformed.
    """
    step = params["step"] or params["release"]
    task = Task(
        cluster=cluster,
        namespace=params["namespace"],
        release=params["release"],
        step=step,
        chart=chart.ref,
        recipes=tuple(params["recipe"] or ()),
        values=params["values"] or {},
        pipeline=params["pipeline"] or params["release"],
        index=params["index"],
        total=params["total"],
        keep=chart.serves if params["keep"] is None else params["keep"],
        replace=params["replace"],
        force=params["force"],
        allow_lookup=params["allow_lookup"],
        adopt=params["adopt"],
        cleanup=params["cleanup"],
        workload=params["workload"] or None,
        after=tuple(params["after"] or ()),
        later_releases=tuple(params["later_releases"] or ()),
        retry=Retry(retries=params["retries"], on=tuple(params["retry_on"]), backoff=params["retry_backoff"]),
        **following(params, mask or Mask(), private=private),
    )
    check_release(task.helm_release)
    return task


def stop_command(release: str, namespace: str) -> str:
    """Return the command line that stops a run, for messages."""
    return f"ansible-playbook playbooks/stop.yml -e release={release} -e kube_namespace={namespace}"


def new_run_id(pipeline: str) -> str:
    """Return a unique id that sorts by time, such as `20261121T091502-digits-3f9a`."""
    # A run id has at most 128 characters.
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{pipeline[:64]}-{secrets.token_hex(2)}"
