# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The commands of Terraform for one cluster: run each, follow its events, return its result."""

from __future__ import annotations

import functools
import json
import math
import shlex
import typing as t
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, human
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_json, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import MOST
from ansible_collections.mlops.eks.plugins.module_utils._core.locking import locked
from ansible_collections.mlops.eks.plugins.module_utils._terraform import lock as state_lock
from ansible_collections.mlops.eks.plugins.module_utils._terraform import providers
from ansible_collections.mlops.eks.plugins.module_utils._terraform.binary import Binary
from ansible_collections.mlops.eks.plugins.module_utils._terraform.diagnostics import VARIABLES, explain, gather
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Event, parse, read
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import (
    Ended,
    Job,
    ask,
    follow,
    running,
)
from ansible_collections.mlops.eks.plugins.module_utils._terraform.progress import Progress
from ansible_collections.mlops.eks.plugins.module_utils._terraform.worktree import ERRORED

Say = Callable[[str], None]
APPLY, PLAN = "apply.jsonl", "plan.jsonl"
_PLANNED, _WRAPPER = "plan.tfplan", "run"


@dataclass(frozen=True, kw_only=True)
class Program:
    """Terraform in `work`, a directory of links below `data`; `lock` is the descriptor of the lock on `data`."""

    name: str
    binary: Binary
    source: Path
    work: Path
    data: Path
    env: Mapping[str, str]
    lock: int
    lock_timeout: float
    deadline: float
    heartbeat: float
    say: Say
    clock: Clock = field(default_factory=Clock)

    @property
    def wrapper(self) -> Path:
        """The script that runs Terraform by hand with the same settings."""
        return self.data / _WRAPPER

    def write_inputs(self, variables: Mapping[str, t.Any]) -> None:
        """Write the variables and the script for manual work. Neither is ever on a command line."""
        write_atomically(self.data / VARIABLES, to_json(dict(variables)), private=True)
        # Quote twice: for Terraform inside the value, for the shell around it.
        given = shlex.quote(shlex.quote(f"-var-file={self.data / VARIABLES}"))
        settings = {key: self.env[key] for key in ("TF_DATA_DIR", "TF_PLUGIN_CACHE_DIR")}
        lines = [
            "#!/bin/sh",
            f"# Runs Terraform by hand on what mlops.eks.terraform_stack manages here: {self.name}",
            f"cd {shlex.quote(str(self.work))} || exit 1",
            *(f"export {key}={shlex.quote(value)}" for key, value in settings.items()),
            f"export TF_CLI_ARGS_plan={given} TF_CLI_ARGS_import={given}",
            f'exec {shlex.quote(self.binary.path)} "$@"',
        ]
        write_atomically(self.wrapper, "\n".join(lines) + "\n", private=True)
        self.wrapper.chmod(0o700)

    def init(self) -> None:
        """Initialize the backend, the modules, and the providers of the stack's lock file."""
        cache = Path(self.env["TF_PLUGIN_CACHE_DIR"])
        cache.mkdir(parents=True, exist_ok=True)
        frozen = ["-lockfile=readonly"] if providers.pin(self.source, self.work, self.binary.brand) else []
        # Terraform's documentation: "The plugin cache directory is not guaranteed to be concurrency safe."
        with locked(cache / ".lock", f"{self.name}: providers", self.say):
            self._follow("init", ["init", "-json", "-input=false", *frozen], "init.jsonl", (0,), looks_only=True)

    def plan(self, *, destroy: bool) -> bool:
        """Write a plan; return whether it has changes."""
        words = ["plan", "-json", "-input=false", "-detailed-exitcode"]
        words += [f"-out={self.data / _PLANNED}", f"-var-file={self.data / VARIABLES}"]
        words += ["-destroy"] if destroy else []
        return self._follow("plan", words, PLAN, (0, 2), looks_only=True) == 2

    def planned(self) -> dict[str, t.Any]:
        """Return the plan as a document; it holds secrets."""
        return self._ask_document("show", "-json", str(self.data / _PLANNED))

    def apply(self, total: int) -> None:
        """Apply the plan, which has `total` operations."""
        words = ["apply", "-json", "-input=false", str(self.data / _PLANNED)]
        try:
            self._follow("apply", words, APPLY, (0,), total=total)
        finally:
            self._keep_errored()

    def resources(self) -> dict[str, str]:
        """Return the identifiers of the resources in the state, by address."""
        state = json.loads(self._ask("show", "-json"))
        known = (state.get("values") or {}).get("root_module") or {}
        return {resource["address"]: str(resource["values"].get("id") or "") for resource in _resources(known)}

    def planned_attributes(self) -> dict[str, dict[str, t.Any]]:
        """Return the planned attributes of the resources, by address, as far as a plan knows them."""
        self.plan(destroy=False)
        planned = (self.planned().get("planned_values") or {}).get("root_module") or {}
        return {resource["address"]: resource["values"] for resource in _resources(planned)}

    def import_resource(self, address: str, identifier: str) -> None:
        """Import an existing resource into the state at `address`."""
        words = ["import", "-input=false", f"-var-file={self.data / VARIABLES}", address, identifier]
        self._follow("import", words, "import.log", (0,))

    def forget_plan(self) -> None:
        """Remove the plan, which holds secrets, unless a Terraform in the background may still read it."""
        if not running(self.data / APPLY):
            (self.data / _PLANNED).unlink(missing_ok=True)

    def outputs(self) -> dict[str, dict[str, t.Any]]:
        """Return the outputs: name to sensitive, type, value."""
        return self._ask_document("output", "-json")

    def push_errored(self) -> bool:
        """Write the state that an earlier run could not write; return whether there was one."""
        self._keep_errored()
        kept = self.data / ERRORED
        if not kept.is_file():
            return False
        self._ask("state", "push", _lock_timeout(self.lock_timeout), str(kept))
        kept.unlink()
        return True

    def _keep_errored(self) -> None:
        """Move a state that could not be written to the place where the next run finds it."""
        left = self.work / ERRORED
        if left.is_file():
            left.chmod(0o600)
            left.replace(self.data / ERRORED)

    def _ask_document(self, *words: str) -> dict[str, t.Any]:
        # OpenTofu may write warnings before it.
        _, _, text = f"\n{self._ask(*words)}".partition("\n{")
        found: dict[str, t.Any] = json.loads(f"{{{text}")
        return found

    def _ask(self, *words: str) -> str:
        return ask([self.binary.path, *words], cwd=self.work, env=self.env)

    def _follow(
        self,
        verb: str,
        words: Sequence[str],
        log: str,
        good: Sequence[int],
        *,
        total: int = 0,
        lock_timeout: float = 0.0,
        looks_only: bool = False,
        tries: int = 3,
    ) -> int:
        """Run a command and return its code, one of `good`. Wait `lock_timeout` seconds for the lock of the state."""
        progress = Progress(heartbeat=self.heartbeat, total=total)
        argv = [self.binary.path, words[0], _lock_timeout(lock_timeout), *words[1:]]
        # Read the record of the previous command before it is overwritten.
        earlier = [list(read(self.data / name)) for name in (PLAN, APPLY) if not running(self.data / name)]
        ended = follow(
            Job(argv, self.work, self.env, self.data / log, self.lock, self.deadline, looks_only),
            self.clock,
            lambda line: self._tell(progress.feed(parse(line), self.clock.now())),
            lambda: self._tell(progress.tick(self.clock.now())),
        )
        if ended.rc in good and not ended.timed_out:
            return ended.rc
        problems = gather(progress.problems, self.work, self.source)
        subject = f"{self.name}: {Path(self.binary.path).name} {verb}"
        again = functools.partial(self._follow, verb, words, log, good, total=total, looks_only=looks_only)
        held = state_lock.holder(problems)
        if held is not None and self._may_try_again(held, earlier, subject, lock_timeout):
            return again(lock_timeout=self.lock_timeout)
        if tries and state_lock.was_released(problems):
            return again(lock_timeout=lock_timeout, tries=tries - 1)
        if ended.timed_out or ended.signal:
            raise _cut_short(subject, ended)
        raise explain(subject, problems, progress.text, self.wrapper)

    def _may_try_again(
        self, held: state_lock.Holder, earlier: Sequence[Sequence[Event]], subject: str, lock_timeout: float
    ) -> bool:
        """Release the lock of a killed run of ours, or decide to wait for another run's, or refuse."""
        now = self.clock.now()
        if any(state_lock.is_ours(held, kept) for kept in earlier):
            self._tell(
                [f"a run of this machine was killed and left the state locked ({held.identifier}); unlocking it"]
            )
            self._ask("force-unlock", "-force", held.identifier)
        elif lock_timeout:
            raise state_lock.refusal(held, subject=subject, program=self.wrapper, now=now)
        else:
            most = f", for {human(self.lock_timeout)} at most" if self.lock_timeout < math.inf else ""
            self._tell([f"{held.sentence(now)}; waiting for it{most}"])
        return True

    def _tell(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.say(f"{self.name} | {line}")


def _lock_timeout(seconds: float) -> str:
    """Return Terraform's argument for the lock time-out in seconds; it has no value for `forever`."""
    return f"-lock-timeout={min(seconds, MOST):f}s"


def _resources(module: Mapping[str, t.Any]) -> Iterator[Mapping[str, t.Any]]:
    """Yield the managed resources of a module and its child modules, in a state or in planned values."""
    for resource in module.get("resources") or ():
        if resource["mode"] == "managed":
            yield resource
    for child in module.get("child_modules") or ():
        yield from _resources(child)


def _cut_short(subject: str, ended: Ended) -> EksError:
    if not ended.stopped:
        return CommandError(
            f"{subject}: timed out. Terraform continues in the background; the same command follows it to its end.",
            timed_out=True,
        )
    if ended.timed_out:
        return CommandError(f"{subject}: timed out; it stopped, and nothing was changed.", timed_out=True)
    return CommandError(
        f"{subject}: it was killed by signal {ended.signal}. Run the same command again: it imports what was created"
        " and creates the rest."
    )
