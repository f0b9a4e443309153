# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Base class of all action plugins: run an engine in the worker and print its lines at once."""

from __future__ import annotations

import multiprocessing
import os
import pwd
import signal
import threading
import typing as t
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError
from ansible.parsing.vault import VaultHelper, VaultSecretsContext
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.mlops.eks.plugins.module_utils._core.arguments import plain_arguments
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import unexpected_error
from ansible_collections.mlops.eks.plugins.plugin_utils.dead_worker import end_play_if_worker_dies
from ansible_collections.mlops.eks.plugins.plugin_utils.unread_output import is_unread
from ansible_collections.mlops.eks.plugins.plugin_utils.whole_lines import whole_lines

Say = Callable[[str], None]
Params = dict[str, t.Any]
_NO_ASYNC = (
    "{action}: 'async' is not supported. Remove it: hosts run in parallel (forks), and the same command resumes an "
    "interrupted task."
)
# Extra variables of AWX and Automation Controller: the user who launched the job.
_AWX_USERS = ("awx_user_name", "tower_user_name")
# Variables that hold those of other hosts, or facts.
_OTHERS = frozenset({"hostvars", "vars", "groups", "ansible_facts"})
# A shorter vaulted variable is a word or a flag, and is not masked.
_SHORTEST = 6
# Types of values without the tag of a vaulted string.
_NEVER_VAULTED = frozenset({str, int, float, bool, type(None)})
# Seconds between two checks of whether ansible-playbook still runs.
_CHECK_INTERVAL = 0.5


class TaskContext(t.NamedTuple):
    """What an engine gets of the task in addition to its parameters."""

    host: str
    check: bool
    diff: bool
    # Whether the task has `no_log: true`.
    private: bool = False
    # The variables of the host.
    variables: Mapping[str, t.Any] = {}
    # The AWX user who started the play; empty outside AWX.
    user: str = ""


class LiveAction(ActionBase):
    """Run an engine in the controller's worker and print each of its lines at once.

    A subclass sets `SPEC` (the module's argument spec, with `SPEC_RULES` for `required_if` and the like) and
    implements `engine`. Over another connection than `local`, or as another user, the module of the same name runs the
    same engine.
    """

    SPEC: t.ClassVar[dict[str, t.Any]] = {}
    SPEC_RULES: t.ClassVar[dict[str, t.Any]] = {}

    def engine(self, params: Params, context: TaskContext, say: Say) -> dict[str, t.Any]:
        """Do the work and return the task's result; raise `EksError` to fail."""
        raise NotImplementedError

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Entry point of Ansible."""
        task_vars = task_vars or {}
        if self._task.async_val:
            return {"failed": True, "msg": _NO_ASYNC.format(action=self._task.action)}
        base: dict[str, t.Any] = super().run(tmp, task_vars)
        if self._is_elsewhere():
            return {**base, **self._execute_module(task_vars=task_vars)}
        try:
            with _environment(self._own_environment()):
                return {**base, **self._run_here(task_vars)}
        except EksError as error:
            return {**base, "failed": True, **error.to_result()}
        except OSError as error:
            # The engine handles its own; this one is of the worker, such as a process that cannot be started.
            return {**base, "failed": True, **unexpected_error(self._task.action, error).to_result()}

    def _is_elsewhere(self) -> bool:
        """Return whether the task runs on another machine or as another user than this process."""
        become = self._connection.become
        return bool(self._connection.transport != "local" or (become and _is_other(become.get_option("become_user"))))

    def _own_environment(self) -> dict[str, t.Any]:
        """Return `environment` of the task, its block, role and play, as a module would get it."""
        environment: dict[str, t.Any] = {}
        self._compute_environment_string(environment)
        return environment

    def _run_here(self, task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Check the arguments and run the engine in this process.

        Raises:
            EksError: an argument is wrong, or the engine failed.
        """
        checked = ArgumentSpecValidator(self.SPEC, **self.SPEC_RULES).validate(plain_arguments(self._task.args))
        if checked.error_messages:
            raise InvalidInputError("; ".join(map(_explain, checked.errors)))
        _exit_with_parent()
        params = checked.validated_parameters
        if "redact" in self.SPEC:
            # A vaulted variable can be part of an argument, or of a result of an earlier task.
            own = [value for name, value in task_vars.items() if name not in _OTHERS]
            vaulted = (text for text in vaulted_strings(own) if len(text) >= _SHORTEST)
            params["redact"] = [*(params["redact"] or ()), *vaulted_strings(self._task.args), *vaulted]
        context = TaskContext(
            host=str(task_vars.get("inventory_hostname", "localhost")),
            check=self._task.check_mode,
            diff=self._task.diff,
            private=bool(self._task.no_log),
            variables=task_vars,
            user=next((str(task_vars[name]) for name in _AWX_USERS if task_vars.get(name)), ""),
        )
        with end_play_if_worker_dies(), whole_lines(self._say()) as say:
            return self.engine(params, context, say)

    def _say(self) -> Say:
        """Return the printer. A task with `no_log` prints nothing, as Display does not censor lines."""
        if self._task.no_log:
            return lambda _: None
        display = Display()
        return lambda line: display.display(line)


@contextmanager
def _environment(added: Mapping[str, t.Any]) -> Iterator[None]:
    """Set environment variables of this process and its children inside the block.

    Ansible makes a worker for each task of each host. Only the items of a loop share one, and they run in turn.
    """
    before = {name: os.environ.get(name) for name in added}
    try:
        _set(added)
        yield
    finally:
        for name, former in before.items():
            os.environ.pop(name, None)
            if former is not None:
                os.environ[name] = former


def _set(variables: Mapping[str, t.Any]) -> None:
    for name, value in variables.items():
        try:
            os.environ[name] = str(value)
        except ValueError as error:
            raise InvalidInputError(f"environment: variable {name!r} cannot be set: {error}. Correct it.") from error


def _is_other(user: str | None) -> bool:
    """Return whether `user`, by default root, differs from the user of this process."""
    try:
        return pwd.getpwnam(user or "root").pw_uid != os.getuid()
    except KeyError:
        return True


def vaulted_strings(value: t.Any) -> Iterator[str]:
    """Yield the vaulted strings in a task's arguments or variables, decrypted.

    Each task examines the thousands of variables of its host: without a vault password, or a tag, a value costs little.
    """
    secrets = VaultSecretsContext.current(optional=True)
    found = [value] if secrets and secrets.secrets else []
    while found:
        entry = found.pop()
        if type(entry) in _NEVER_VAULTED:
            continue
        if isinstance(entry, dict):
            found.extend(entry.values())
        elif isinstance(entry, (list, tuple)):
            found.extend(entry)
        elif VaultHelper.get_ciphertext(entry, with_tags=False) is not None:
            # A string that cannot be decrypted is in no other text either.
            with suppress(AnsibleError):
                yield str(entry)


def _exit_with_parent() -> None:
    """Exit when ansible-playbook was killed; end ansible-playbook when its output has no reader.

    A worker has a session of its own: it would outlive its play, keep the lock and block the next run.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        while os.getppid() == parent.pid:
            if is_unread(parent.pid):
                os.kill(parent.pid, signal.SIGTERM)
            threading.Event().wait(_CHECK_INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent").start()


def _explain(error: Exception) -> str:
    """Return an argument error as a sentence; Ansible's error for an unknown option holds only its name."""
    return f"Unsupported parameters: {error}" if isinstance(error, UnsupportedError) else str(error)
