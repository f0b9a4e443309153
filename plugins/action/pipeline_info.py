# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._plan.checks import pipeline_info
from ansible_collections.mlops.eks.plugins.modules.pipeline_info import ARGUMENT_SPEC
from ansible_collections.mlops.eks.plugins.plugin_utils.live import LiveAction, Params, Say, TaskContext


class ActionModule(LiveAction):
    """Read a pipeline on the controller, which has its files and the charts."""

    SPEC = ARGUMENT_SPEC

    def engine(self, params: Params, context: TaskContext, say: Say) -> dict[str, t.Any]:  # noqa: ARG002
        """Run the engine."""
        return pipeline_info(params)
