# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Argument specifications that several modules share; the doc fragments `_cluster` and `_follow` explain them."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.limits import STEP_LIMITS, options
from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import RETRY_ON

Spec = dict[str, dict[str, t.Any]]

CLUSTER: Spec = {
    "kubeconfig": {"type": "path"},
    "context": {"type": "str"},
    "namespace": {"type": "str", "default": "default"},
    **options("patience"),
    "redact": {"type": "list", "elements": "str", "no_log": True},
}

# Which run is meant; where it is, its pipeline tells.
RUN: Spec = {
    **CLUSTER,
    "namespace": {"type": "str"},
    "release": {"type": "str"},
    "pipeline": {"type": "path"},
}

_RETRY = ("retries", "retry_backoff", "leftover_grace")
# What only a release that is installed by a step may take.
_RELEASE = (*_RETRY, "ready_timeout")

FOLLOW: Spec = {
    **options(*(name for name in STEP_LIMITS if name not in _RELEASE), "heartbeat", "log_streams"),
    "progress": {"type": "str"},
    "until": {"type": "str"},
    "fail_on": {"type": "list", "elements": "str"},
    "logs": {"type": "str", "choices": ["leader", "all", "none"], "default": "leader"},
    "run_id": {"type": "str"},
    "runs_dir": {"type": "path", "default": "runs"},
}

# What is tried again after a failure, and how.
RETRY: Spec = {
    **options(*_RETRY),
    "retry_on": {
        "type": "list",
        "elements": "str",
        "choices": list(RETRY_ON),
        "default": ["evicted", "node_lost", "preempted"],
    },
}

# Whether what this collection did not install may be changed.
ADOPT: Spec = {"adopt": {"type": "bool", "default": False}}

# Which chart is meant; the names are those of a step in `pipeline.yaml`.
SOURCE: Spec = {
    "chart": {"type": "str", "required": True},
    "repo": {"type": "str"},
    "version": {"type": "str"},
    "digest": {"type": "str"},
}

# Where Helm is, for modules that call it.
HELM: Spec = {"helm_binary": {"type": "path"}}
