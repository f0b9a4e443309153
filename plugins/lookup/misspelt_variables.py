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
  - Returns, for each extra variable (C(-e)) that the playbooks and roles of this collection do not use but that is
    spelt much like one they do, a sentence that names both. Ansible itself ignores a misspelt variable.
  - Variables of the inventory, and extra variables that are like none of ours, are left alone.
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

# What the playbooks read; tests/contract/test_playbook_variables.py finds those missing.
PLAYBOOKS = (
    "adopt",
    "all_namespaces",
    "allow_lookup",
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
    "patience",
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
_ROLES = Path(__file__).resolve().parents[2] / "roles"
# Of Ansible itself, and of what starts it.
_OTHERS = ("ansible_", "awx_", "tower_")
# How much alike two names are of which one is a slip of the keyboard; two words that only begin alike are less so.
_ALIKE = 0.8


def misspelt(names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each name that is nearly one of ours."""
    strange = sorted({name for name in names if name not in PLAYBOOKS and not name.startswith(_OTHERS)})
    # Reading the roles costs time, and mostly there is nothing strange.
    known = [*PLAYBOOKS, *_of_roles()] if strange else []
    for name in strange:
        meant = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
        if name not in known and meant:
            yield (
                f"Extra variable {name!r} is not known. Did you mean {meant[0]!r}? If it is one of your own, give it a "
                "name that is less like that."
            )


def _of_roles() -> Iterator[str]:
    """Yield the variables of our roles."""
    for path in sorted(_ROLES.glob("*/meta/argument_specs.yml")):
        specs = yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"]
        for spec in specs.values():
            yield from spec.get("options") or ()


class LookupModule(LookupBase):
    """What was probably meant by extra variables that nothing reads."""

    def run(self, terms: t.Any, variables: t.Any = None, **kwargs: t.Any) -> list[str]:  # noqa: ARG002
        """Return one sentence for each."""
        return list(misspelt(map(str, load_extra_vars(t.cast(DataLoader, self._loader)))))
