# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._aws.state_bucket import state_bucket_info
from ansible_collections.mlops.eks.plugins.modules.state_bucket_info import ARGUMENT_SPEC
from ansible_collections.mlops.eks.plugins.plugin_utils.live import LiveAction, Params, Say, TaskContext


class ActionModule(LiveAction):
    """Look for the bucket from the controller, which has the credentials."""

    SPEC = ARGUMENT_SPEC

    def engine(self, params: Params, context: TaskContext, say: Say) -> dict[str, t.Any]:  # noqa: ARG002
        """Run the engine."""
        return state_bucket_info(params)
