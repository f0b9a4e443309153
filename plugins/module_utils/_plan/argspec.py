# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Argument specifications that several modules share; the doc fragments `_cluster` and `_follow` document them."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.limits import STEP_LIMITS, options
from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import RETRY_ON

Spec = dict[str, dict[str, t.Any]]

CLUSTER: Spec = {
    "kubeconfig": {"type": "path"},
    "context": {"type": "str"},
    "namespace": {"type": "str", "default": "default"},
    **options("api_retry_timeout"),
    "redact": {"type": "list", "elements": "str", "no_log": True},
}

# The run that a module is about. Release and namespace default to those of the pipeline.
RUN: Spec = {
    **CLUSTER,
    "namespace": {"type": "str"},
    "release": {"type": "str"},
    "pipeline": {"type": "path"},
}

_RETRY = ("retries", "retry_backoff", "leftover_grace")
# Limits of an installed release, which a workload that is only followed does not have.
_INSTALLED = (*_RETRY, "ready_timeout")

FOLLOW: Spec = {
    **options(*(name for name in STEP_LIMITS if name not in _INSTALLED), "heartbeat", "log_streams"),
    "progress": {"type": "str"},
    "until": {"type": "str"},
    "fail_on": {"type": "list", "elements": "str"},
    "logs": {"type": "str", "choices": ["leader", "all", "none"], "default": "leader"},
    "run_id": {"type": "str"},
    "runs_dir": {"type": "path", "default": "runs"},
}

RETRY: Spec = {
    **options(*_RETRY),
    "retry_on": {
        "type": "list",
        "elements": "str",
        "choices": list(RETRY_ON),
        "default": ["evicted", "node_lost", "preempted"],
    },
}

# Whether a release that this collection did not install may be changed.
ADOPT: Spec = {"adopt": {"type": "bool", "default": False}}

# The chart, with the keys of a step in `pipeline.yaml`.
SOURCE: Spec = {
    "chart": {"type": "str", "required": True},
    "repo": {"type": "str"},
    "version": {"type": "str"},
    "digest": {"type": "str"},
}

HELM: Spec = {"helm_binary": {"type": "path"}}
