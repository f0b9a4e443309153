# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Argument specifications that several modules share; the doc fragments `_cluster` and `_follow` explain them."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import RETRY_ON

Spec = dict[str, dict[str, t.Any]]

CLUSTER: Spec = {
    "kubeconfig": {"type": "path"},
    "context": {"type": "str"},
    "namespace": {"type": "str", "default": "default"},
    "patience": {"type": "float", "default": 60.0},
    "redact": {"type": "list", "elements": "str", "no_log": True},
}

FOLLOW: Spec = {
    "timeout": {"type": "float", "default": 86400.0},
    "no_output_timeout": {"type": "float", "default": 0.0},
    "pending_timeout": {"type": "float", "default": 0.0},
    "progress": {"type": "str"},
    "heartbeat": {"type": "float", "default": 60.0},
    "until": {"type": "str"},
    "fail_on": {"type": "list", "elements": "str"},
    "image_pull_grace": {"type": "float", "default": 30.0},
    "config_grace": {"type": "float", "default": 15.0},
    "unschedulable_grace": {"type": "float", "default": 900.0},
    "lost_rank_grace": {"type": "float", "default": 120.0},
    "max_restarts": {"type": "int", "default": 5},
    "logs": {"type": "str", "choices": ["leader", "all", "none"], "default": "leader"},
    "log_streams": {"type": "int", "default": 32},
    "run_id": {"type": "str"},
    "runs_dir": {"type": "path", "default": "runs"},
}

# What is tried again after a failure, and how.
RETRY: Spec = {
    "retries": {"type": "int", "default": 0},
    "retry_on": {
        "type": "list",
        "elements": "str",
        "choices": list(RETRY_ON),
        "default": ["evicted", "node_lost", "preempted"],
    },
    "retry_backoff": {"type": "float", "default": 10.0},
    "leftover_grace": {"type": "float", "default": 3600.0},
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
