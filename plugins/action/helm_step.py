# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.arguments import plain_arguments
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import helm_step
from ansible_collections.mlops.eks.plugins.module_utils._recipe.declared_secrets import (
    DeclaredSecrets,
    declared_secrets,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source
from ansible_collections.mlops.eks.plugins.modules.helm_step import ARGUMENT_SPEC
from ansible_collections.mlops.eks.plugins.plugin_utils.live import LiveAction, Params, Say, TaskContext
from ansible_collections.mlops.eks.plugins.plugin_utils.secret_sources import SecretSources


class ActionModule(LiveAction):
    """Run one recipe as one Helm release; print its log at once."""

    SPEC = ARGUMENT_SPEC

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Read the secrets first if the task runs elsewhere: only the controller can read their sources."""
        if self._is_elsewhere() and self._task.args.get("secrets"):
            try:
                self._task.args = {**self._task.args, "secrets": self._resolved(task_vars or {})}
            except EksError as error:
                return {"failed": True, **error.to_result()}
        return super().run(tmp, task_vars)

    def _resolved(self, variables: dict[str, t.Any]) -> list[dict[str, t.Any]]:
        source = Source(name="helm_step", data={"secrets": plain_arguments(self._task.args["secrets"])})
        known = DeclaredSecrets(entries=declared_secrets(source, text=True), resolve=self._sources(variables))
        return [
            {**one.to_document(), "data": known.content(one)} if one.data else one.to_document()
            for one in known.entries
        ]

    def _sources(self, variables: Mapping[str, t.Any]) -> SecretSources:
        return SecretSources(variables, loader=self._loader, templar=self._templar)

    def engine(self, params: Params, context: TaskContext, say: Say) -> dict[str, t.Any]:
        """Run the engine."""
        how = {"check": context.check, "diff": context.diff, "private": context.private, "user": context.user}
        return helm_step(params, cluster=context.host, say=say, resolve=self._sources(context.variables), **how)
