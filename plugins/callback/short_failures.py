# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: short_failures
type: aggregate
short_description: Show a failed task of this collection on one screen
description:
  - The stdout callback prints the whole result of a failed task. For a failed step that is about 80 lines.
  - With this callback it prints the cause, the last lines of the log, the remedy, the directory of the evidence and the
    command that continues the run. For other failed tasks of the collection it prints the message and names the
    other return values.
  - Only what is printed changes. C(register), C(rescue), C(failed_when), other callbacks and the events of
    ansible-runner get the whole result.
  - With C(-v) the whole result is printed.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
requirements:
  - C(callbacks_enabled = mlops.eks.short_failures) in the section C([defaults]) of C(ansible.cfg), or the environment
    variable E(ANSIBLE_CALLBACKS_ENABLED)
"""

import re
import shlex
import sys
import typing as t
from collections.abc import Mapping, MutableMapping, Sequence

from ansible import context
from ansible.plugins.callback import CallbackBase

from ansible_collections.mlops.eks.plugins.module_utils._core.text import shortened

Result = Mapping[str, t.Any]

_COLLECTION = "mlops.eks."
# Rows of a step's failure. With the recap and the task that writes the report, it is 15 on a wide terminal.
_ROWS = 10
# Lines of the log: at least, and at most.
_LOG = (2, 4)
# A cause longer than this number of rows is cut; the record has all of it.
_LONGEST = 4
# Keys that say nothing beside the message.
_ALWAYS = frozenset({"msg", "failed", "changed", "exception", "warnings", "deprecations", "invocation", "diff"})
# Extra variables that hold no secret. A command with any other is not printed.
_PRINTED = frozenset(
    {
        *("pipeline", "release", "from_step", "only_steps", "runs_dir", "logs", "demo", "target", "region"),
        *("kubeconfig", "kube_context", "kube_namespace"),
    }
)


class CallbackModule(CallbackBase):
    """Shortens what the stdout callback prints of a failed task of this collection.

    A stdout callback of our own would not do: ansible-runner, and so AWX, always uses its own, which extends
    `ansible.builtin.default`. All of them format a result by these two methods of the base class.
    """

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "mlops.eks.short_failures"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args: t.Any, **kwargs: t.Any) -> None:
        super().__init__(*args, **kwargs)
        _install()


def _install() -> None:
    """Replace the methods by which callbacks format a result; once, as a process may load callbacks again."""
    dump, explain = CallbackBase._dump_results, CallbackBase._handle_exception
    if dump.__module__ == __name__:
        return

    def short_dump(self: CallbackBase, result: Result, *args: t.Any, **kwargs: t.Any) -> str:
        if not _is_short(self, result):
            return dump(self, result, *args, **kwargs)
        lines = step_lines(result, _columns(self)) if _has_cause(result) else message_lines(result)
        return "\n    ".join(lines)

    def short_explanation(
        self: CallbackBase, result: MutableMapping[str, t.Any], *args: t.Any, **kwargs: t.Any
    ) -> None:
        # The error of a failed step repeats its message and shows the task, in which nothing is wrong.
        if not (_is_short(self, result) and _has_cause(result)):
            explain(self, result, *args, **kwargs)

    CallbackBase._dump_results = short_dump  # type: ignore[method-assign]
    CallbackBase._handle_exception = short_explanation  # type: ignore[method-assign]


def _is_short(callback: CallbackBase, result: Result) -> bool:
    """Return whether the callback prints the result of a failed task of this collection, and not all of it."""
    prints = getattr(callback, "CALLBACK_TYPE", "") == "stdout" and not callback._display.verbosity
    current = callback._current_task_result
    if not prints or current is None or not current.is_failed():
        return False
    return str(current.task.resolved_action).startswith(_COLLECTION) and bool(result.get("msg"))


def _has_cause(result: Result) -> bool:
    """Return whether a result is that of a step, or of a workload that was followed."""
    return isinstance(result.get("cause"), Mapping)


def _columns(callback: CallbackBase) -> int:
    return max(40, callback._display.columns or 0)


def step_lines(result: Result, columns: int, argv: Sequence[str] | None = None) -> list[str]:
    """Return a failed step on at most `_ROWS` rows of a terminal, or more where the paths are long."""
    cause = result["cause"]
    remedy = str(cause.get("remedy") or "")
    # The message ends with cause and remedy, which have lines of their own.
    head, colon, what = str(result["msg"]).removesuffix(remedy).rstrip().partition(f": {cause['object']}")
    what = f"{cause['object']}{what}" if colon else f"{cause['object']}: {cause['reason']}: {cause['message']}"
    below = [("remedy", remedy), ("evidence", result.get("evidence")), ("continue", command(argv))]
    above = [head, _labelled("cause", shortened(what, _LONGEST * columns))]
    rest = [_labelled(name, str(text)) for name, text in below if text]
    room = _ROWS - sum(-(-(len(line) + 4) // columns) for line in (*above, *rest))
    log = list(cause.get("log_tail") or result.get("log_tail") or ())[-min(max(room, _LOG[0]), _LOG[1]) :]
    shown = [_labelled("" if index else "log", shortened(line, columns - 16)) for index, line in enumerate(log)]
    return [*above, *shown, *rest]


def message_lines(result: Result) -> list[str]:
    """Return the message of any other failed task, and the names of its other return values."""
    more = sorted(key for key in result if key not in _ALWAYS and not key.startswith("_ansible_"))
    return [str(result["msg"]), *([f"also returned (-v prints them): {', '.join(more)}"] if more else [])]


def command(argv: Sequence[str] | None = None) -> str:
    """Return what to type to continue the run: the command of this process, unless it may hold a secret."""
    extra = context.CLIARGS.get("extra_vars") or ()
    if all(map(_is_printed, extra)):
        program, *arguments = argv or sys.argv
        return shlex.join([program.rsplit("/", 1)[-1], *arguments])
    return "run the same command again"


def _is_printed(variables: str) -> bool:
    if variables.startswith("@"):
        return True
    names = re.findall(r"(?:^|\s)(\w+)=", variables)
    return bool(names) and variables.lstrip()[0] not in "{[" and _PRINTED.issuperset(names)


def _labelled(name: str, text: str) -> str:
    return f"{name + ':' if name else '':10}{text}"
