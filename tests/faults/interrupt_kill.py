# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The ways in which a controller comes to its end before its time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from plays import Play

# By name: what is meant, and how it is done to `ansible-playbook`, which leads its process group.
WAYS: dict[str, tuple[str, Callable[[Play], None]]] = {
    "sigkill": ("SIGKILL to all its processes, Helm too", Play.kill),
    "sigkill-main": ("SIGKILL to ansible-playbook alone", lambda play: os.kill(play.process.pid, signal.SIGKILL)),
    "sigterm": ("SIGTERM", lambda play: os.kill(play.process.pid, signal.SIGTERM)),
    "sigint": ("Ctrl-C", lambda play: play.send(signal.SIGINT)),
}
# Where nothing survives, the request at the gate has not left the machine.
NOTHING_SURVIVES = ("sigkill",)
