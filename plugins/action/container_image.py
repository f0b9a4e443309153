# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._local.entrypoints import container_image
from ansible_collections.mlops.eks.plugins.modules.container_image import ARGUMENT_SPEC, SPEC_RULES
from ansible_collections.mlops.eks.plugins.plugin_utils.live import LiveAction, Params, Say, TaskContext


class ActionModule(LiveAction):
    """Build a container image without a registry; print progress at once."""

    SPEC = ARGUMENT_SPEC
    SPEC_RULES = SPEC_RULES

    def engine(self, params: Params, context: TaskContext, say: Say) -> dict[str, t.Any]:
        """Run the engine."""
        return container_image(params, check=context.check, say=say)
