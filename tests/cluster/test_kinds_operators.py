# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The operators themselves: installed again they change nothing, and check mode says so."""

from __future__ import annotations

import typing as t

import pytest
from plays import Play, ansible_playbook

pytestmark = [pytest.mark.cluster, pytest.mark.operators]


@pytest.mark.parametrize("how", [[], ["--check"]], ids=["again", "check"])
def test_what_is_installed_stays_as_it_is(how: list[str], native_cluster: t.Any) -> None:
    where = {"local_cluster_name": native_cluster.name, "kubeconfig": native_cluster.kubeconfig}
    variables = [word for key, value in where.items() for word in ("-e", f"{key}={value}")]
    command = [ansible_playbook(), "-i", "inventory/", "playbooks/operators_cluster.yml", "--diff", *variables, *how]
    shown = Play(command).end(seconds=600)
    assert " changed=0 " in shown, shown
