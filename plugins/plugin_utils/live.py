# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One way for all action plugins to run an engine and show what it says while it works."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import typing as t
from collections.abc import Callable, Iterator, Mapping

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError
from ansible.parsing.vault import VaultHelper
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.plugin_utils.guard import guarded
from ansible_collections.mlops.eks.plugins.plugin_utils.reader import is_unread
from ansible_collections.mlops.eks.plugins.plugin_utils.unbroken import unbroken

Say = Callable[[str], None]
Params = dict[str, t.Any]
# Seconds between two looks whether ansible-playbook still runs.
_WATCHED = 0.5


class Context(t.NamedTuple):
    """What an engine learns of the task beside its parameters."""

    host: str
    check: bool
    diff: bool
    # Whether the task is not to be logged.
    private: bool = False


class LiveAction(ActionBase):
    """Run an engine in the controller's worker and print each of its lines at once.

    A subclass sets `SPEC` (the module's argument spec, with `SPEC_RULES` for `required_if` and the like) and
    implements `engine`. Over a connection that is not local the module of the same name runs the same engine.
    """

    SPEC: t.ClassVar[dict[str, t.Any]] = {}
    SPEC_RULES: t.ClassVar[dict[str, t.Any]] = {}

    def engine(self, params: Params, context: Context, say: Say) -> dict[str, t.Any]:
        """Do the work and return the task's result; raise `EksError` to fail."""
        raise NotImplementedError

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Entry point of Ansible."""
        task_vars = task_vars or {}
        base: dict[str, t.Any] = super().run(tmp, task_vars)
        if self._connection.transport != "local":
            return {**base, **self._execute_module(task_vars=task_vars)}
        # Arguments arrive as tagged strings and lazy containers; YAML dumpers refuse those, so make them plain once.
        arguments = json.loads(json.dumps(self._task.args))
        checked = ArgumentSpecValidator(self.SPEC, **self.SPEC_RULES).validate(arguments)
        if checked.error_messages:
            return {**base, "failed": True, "msg": "; ".join(map(_explain, checked.errors))}
        _die_with_parent()
        params = checked.validated_parameters
        if "redact" in self.SPEC:
            params["redact"] = [*(params["redact"] or ()), *_vaulted(self._task.args)]
        context = Context(
            host=str(task_vars.get("inventory_hostname", "localhost")),
            check=self._task.check_mode,
            diff=self._task.diff,
            private=bool(self._task.no_log),
        )
        try:
            with guarded(), unbroken(self._say()) as say:
                result = self.engine(params, context, say)
        except EksError as error:
            return {**base, "failed": True, **error.to_result()}
        return {**base, **result}

    def _say(self) -> Say:
        """Return the printer; `no_log` tasks print nothing, as Display itself would not censor them."""
        if self._task.no_log:
            return lambda _: None
        display = Display()
        return lambda line: display.display(line)


def _vaulted(value: t.Any) -> Iterator[str]:
    """Yield the strings in a task's arguments that came out of a vault."""
    if isinstance(value, str):
        if VaultHelper.get_ciphertext(value, with_tags=False) is not None:
            yield str(value)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _vaulted(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _vaulted(entry)


def _die_with_parent() -> None:
    """End this worker when ansible-playbook is killed without a chance to end it, or hangs for want of a reader.

    A worker has a session of its own, so it would outlive its play unseen, keep the lock and refuse the next run.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        while os.getppid() == parent.pid:
            if is_unread(parent.pid):
                os.kill(parent.pid, signal.SIGTERM)
            threading.Event().wait(_WATCHED)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()


def _explain(error: Exception) -> str:
    """Return an argument error as a sentence; Ansible's own for an unknown option names only the option."""
    return f"Unsupported parameters: {error}" if isinstance(error, UnsupportedError) else str(error)
