# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Note when each task's result is there: one JSON line per result, in the file that BENCH_TIMES names."""

from __future__ import annotations

DOCUMENTATION = r"""
name: bench_times
type: notification
short_description: Notes when results arrive
description:
  - Writes one JSON line per task result to the file that the environment variable E(BENCH_TIMES) names.
requirements:
  - set as enabled callback
"""

import json
import os
import time
import typing as t
from pathlib import Path

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Stamp results with the wall clock, before anything else is done with them."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "bench_times"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: t.Any) -> None:
        """Note one result."""
        at = time.time()
        found = result.result
        line = {"at": at, "task": result.task.get_name(), "workload": (found.get("workload") or {}).get("name")}
        with Path(os.environ["BENCH_TIMES"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
