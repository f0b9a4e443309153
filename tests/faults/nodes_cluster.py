# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The cluster of three nodes, with the operators, that faults of nodes and components share."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import subprocess
import threading
from collections.abc import Iterator

from plays import ROOT, Play, ansible_playbook
from three import Three

_LOCK = threading.Lock()


@contextlib.contextmanager
def three_nodes() -> Iterator[Three]:
    """Yield the cluster for one fault at a time; it is put right afterwards.

    It is the one named in $MLOPS_EKS_TEST_CLUSTER_OF_NODES, or one that is made now and removed when Python ends.
    """
    with _LOCK:
        cluster = _cluster()
        try:
            yield cluster
        finally:
            cluster.repair()


@functools.cache
def _cluster() -> Three:
    given = os.environ.get("MLOPS_EKS_TEST_CLUSTER_OF_NODES")
    cluster = Three(given or f"faults-{os.getpid()}")
    if not given:
        where = ["-e", f"local_cluster_name={cluster.layout.name}", "-e", f"kubeconfig={cluster.kubeconfig}"]
        command = [ansible_playbook(), "playbooks/test_cluster.yml", *where]
        # Not as a play, whose reader is a thread: there are no new ones when Python ends.
        atexit.register(
            functools.partial(subprocess.run, [*command, "-e", "local_cluster_state=absent"], cwd=ROOT, check=True)
        )
        Play([*command, "-e", "local_cluster_nodes=3"]).end(seconds=900)
    cluster.keep_operators()
    return cluster
