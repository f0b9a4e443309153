# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write a run's report with the controller's Python, which has Jinja."""

from __future__ import annotations

import typing as t
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._report.write import report
from ansible_collections.mlops.eks.plugins.modules.run_report import ARGUMENT_SPEC
from ansible_collections.mlops.eks.plugins.plugin_utils.live import LiveAction, Params, Say, TaskContext


class ActionModule(LiveAction):
    """The action of `mlops.eks.run_report`."""

    SPEC: t.ClassVar[dict[str, t.Any]] = ARGUMENT_SPEC

    def engine(self, params: Params, context: TaskContext, say: Say) -> dict[str, t.Any]:
        """Run the engine."""
        return report(Path(params["runs_dir"]), params["run_id"], check=context.check, diff=context.diff, say=say)
