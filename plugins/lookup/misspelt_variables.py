# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: misspelt_variables
short_description: Extra variables that are probably misspelt
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
description:
  - Finds extra variables (C(-e)) that the playbooks and roles of this collection do not use, but that are similar to
    one they use. Returns a sentence with both names for each. Ansible ignores misspelt variables.
  - Finds those whose names were changed, and names the new ones.
  - Ignores variables of the inventory, and extra variables that are not similar to any of this collection.
options: {}
"""

EXAMPLES = r"""
- name: Refuse misspelt variables
  ansible.builtin.fail:
    msg: "{{ query('mlops.eks.misspelt_variables') | join(' ') }}"
  when: query('mlops.eks.misspelt_variables') | length > 0
"""

RETURN = r"""
_raw:
  description: One sentence for each misspelt variable.
  type: list
  elements: str
  sample: ["Extra variable 'relase' is not known. Did you mean 'release'?"]
"""

import difflib
import typing as t
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

# Variables of the playbooks; tests/contract/test_playbook_variables.py finds missing ones.
PLAYBOOKS = (
    "adopt",
    "all_namespaces",
    "allow_lookup",
    "api_retry_timeout",
    "aws_profile",
    "cluster_name",
    "config_grace",
    "confirm_destroy",
    "demo",
    "demo_target",
    "evidence",
    "failure_grace",
    "force",
    "from_step",
    "heartbeat",
    "image_pull_grace",
    "infeasible_grace",
    "kube_context",
    "kube_namespace",
    "kubeconfig",
    "leftover_grace",
    "lock_timeout",
    "logs",
    "lost_rank_grace",
    "max_restarts",
    "no_output_timeout",
    "only_steps",
    "pending_timeout",
    "pipeline",
    "pipelines",
    "ready_timeout",
    "recipe_values",
    "redact",
    "region",
    "release",
    "replace",
    "retries",
    "retry_backoff",
    "retry_on",
    "run_id",
    "runs_dir",
    "target",
    "timeout",
    "unschedulable_grace",
    "volume_grace",
    "waves",
)
# Earlier names of variables.
RENAMED = {"patience": "api_retry_timeout", "pipeline_patience": "pipeline_api_retry_timeout"}
_ROLES = Path(__file__).resolve().parents[2] / "roles"
# Prefixes of variables of Ansible, AWX and Tower.
_OTHERS = ("ansible_", "awx_", "tower_")
# Similarity of a misspelt name; names that share only a prefix are less similar.
_ALIKE = 0.8


def misspelt(names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each unknown name that is similar to a known one or was renamed."""
    unknown = sorted({name for name in names if name not in PLAYBOOKS and not name.startswith(_OTHERS)})
    # Read the roles, which is slow, only if a name is unknown.
    known = [*PLAYBOOKS, *_of_roles()] if unknown else []
    for name in unknown:
        if name in RENAMED:
            yield f"Extra variable {name!r} was renamed. Use {RENAMED[name]!r}."
            continue
        meant = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
        if name not in known and meant:
            yield (
                f"Extra variable {name!r} is not known. Did you mean {meant[0]!r}? If not, give it a less similar name."
            )


def _of_roles() -> Iterator[str]:
    """Yield the variables of the roles."""
    for path in sorted(_ROLES.glob("*/meta/argument_specs.yml")):
        specs = yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"]
        for spec in specs.values():
            yield from spec.get("options") or ()


class LookupModule(LookupBase):
    """Find misspelt extra variables."""

    def run(self, terms: t.Any, variables: t.Any = None, **kwargs: t.Any) -> list[str]:  # noqa: ARG002
        """Return one sentence for each misspelt variable."""
        return list(misspelt(map(str, load_extra_vars(t.cast(DataLoader, self._loader)))))
