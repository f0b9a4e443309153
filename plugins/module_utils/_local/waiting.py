# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Wait for a condition of a cluster while its processes run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError, UnreachableError
from ansible_collections.mlops.eks.plugins.module_utils._local import processes
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout

# Seconds; a loaded machine with two cores needs a sixth of this.
TIMEOUT = 180.0
HEARTBEAT = 5.0


def wait(
    layout: Layout, components: Sequence[str], what: str, condition: Callable[[], bool], *, note: Callable[[str], None]
) -> None:
    """Return once `condition` is true. An error or a missing answer counts as false.

    Raises:
        CommandError: one of `components` ended; has the last lines of its log.
        UnreachableError: it is not true after `TIMEOUT` seconds.
    """
    start = beat = time.monotonic()
    while not _holds(condition):
        _check_alive(layout, components, what)
        if time.monotonic() - start > TIMEOUT:
            raise UnreachableError(
                f"Cluster {layout.name!r}: not true after {TIMEOUT:.0f} s: {what}; read {layout.root / 'logs'}"
            )
        if time.monotonic() - beat > HEARTBEAT:
            beat = time.monotonic()
            note(f"waiting until {what}")
        time.sleep(0.05)


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except (CommandError, UnreachableError):
        return False


def _check_alive(layout: Layout, components: Sequence[str], what: str) -> None:
    for component in components:
        record = processes.recorded(layout, component)
        if record is None or processes.start_time(record.pid) == record.started:
            continue
        log = layout.log(component)
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        last = tail[-1] if tail else "it wrote nothing"
        raise CommandError(
            f"Cluster {layout.name!r}: {component} ended while waiting until {what}: {last}; read {log}", log_tail=tail
        )
