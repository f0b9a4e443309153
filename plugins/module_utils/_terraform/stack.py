# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Plan, check, and apply or destroy one stack for one cluster."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock
from ansible_collections.mlops.eks.plugins.module_utils._core.files import to_json, write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.locking import locked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._terraform import changes as plans
from ansible_collections.mlops.eks.plugins.module_utils._terraform import disruptions, worktree
from ansible_collections.mlops.eks.plugins.module_utils._terraform.binary import environment, find_binary
from ansible_collections.mlops.eks.plugins.module_utils._terraform.diagnostics import ExistsError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import read, unfinished
from ansible_collections.mlops.eks.plugins.module_utils._terraform.interrupted_run import wait_for_interrupted_run
from ansible_collections.mlops.eks.plugins.module_utils._terraform.orphans import import_orphans
from ansible_collections.mlops.eks.plugins.module_utils._terraform.program import APPLY, Program, Say
from ansible_collections.mlops.eks.plugins.module_utils._terraform.progress import Progress

Result = dict[str, t.Any]
_JOURNAL = "journal.json"


@dataclass(frozen=True, kw_only=True)
class Request:
    """The request: the module's options of the same names."""

    name: str
    state: str
    source: Path
    data_dir: Path
    variables: Mapping[str, t.Any]
    backend: Mapping[str, t.Any] | None
    env: Mapping[str, t.Any]
    protected: Sequence[str]
    allow_replace: Sequence[str]
    allow_disruption: Sequence[str]
    binary: str | None
    outputs_file: Path | None
    lock_timeout: float
    timeout: float
    heartbeat: float
    # Ansible's check mode and diff mode.
    check: bool
    diff: bool


def ensure(request: Request, say: Say, mask: Mask, clock: Clock | None = None) -> Result:
    """Bring the stack to the wanted state and return the task's result. Register secrets with `mask`."""
    clock = clock or Clock()
    worktree.check_source(request.source)
    worktree.check_variables(request.source, request.variables)
    begun = clock.now()
    with _program(request, say, clock, begun) as program:
        if not request.check and program.push_errored():
            say(f"{request.name} | wrote the state that the last run could not write")
        result = _Run(request, program, mask).run()
    return {**result, "elapsed": round(clock.now() - begun, 1)}


@contextmanager
def _program(request: Request, say: Say, clock: Clock, begun: float) -> t.Iterator[Program]:
    data = request.data_dir
    env = environment(data, request.env)
    binary = find_binary(request.binary, env)
    data.mkdir(parents=True, exist_ok=True)
    data.chmod(0o700)
    deadline = begun + request.timeout
    with (
        locked(data / "lock", f"{request.name}: {data}", say, timeout=request.lock_timeout),
        _alone(request, say, clock, deadline) as lock,
    ):
        program = Program(
            name=request.name,
            binary=binary,
            source=request.source,
            work=worktree.prepare(request.source, data, request.backend),
            data=data,
            env=env,
            lock=lock,
            lock_timeout=request.lock_timeout,
            deadline=deadline,
            heartbeat=request.heartbeat,
            say=say,
            clock=clock,
        )
        program.write_inputs(request.variables)
        program.init()
        try:
            yield program
        finally:
            program.forget_plan()


def _alone(request: Request, say: Say, clock: Clock, deadline: float) -> AbstractContextManager[int]:
    """Wait for a Terraform that continues from an earlier run, and hold the lock for the next one."""
    progress = Progress(heartbeat=request.heartbeat, total=_journal(request.data_dir)["total"])
    return wait_for_interrupted_run(
        request.data_dir / APPLY, progress, lambda line: say(f"{request.name} | {line}"), clock, deadline
    )


def _journal(data: Path) -> Result:
    """Return the journal of the last apply: its number of operations, and what was unfinished before it."""
    file = data / _JOURNAL
    known: Result = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {"total": 0, "unfinished": [], **known}


class _Run(t.NamedTuple):
    """One request and the program that executes it."""

    request: Request
    program: Program
    mask: Mask

    def run(self) -> Result:
        """Plan, then refuse or apply; return the result."""
        request, program = self.request, self.program
        look = request.check or request.state == "planned"
        pending = self._plan(look)
        document = program.planned() if pending else {}
        self.mask.add(plans.secrets(document))
        rows, outputs = plans.read_changes(document), plans.read_outputs(document)
        begun = unfinished(_journal(program.data)["unfinished"], read(program.data / APPLY))
        refused = plans.refused(rows, request.protected, request.allow_replace, begun)
        # Removal of the stack includes its nodes. Nodes of an unfinished group hold nothing yet.
        lost = [] if request.state == "absent" else disruptions.find(document)
        empty = {row.address for row in rows if row.reason == plans.TAINTED and row.address in begun}
        lost = [row for row in lost if row.address not in empty]
        self._show(rows, pending, look)
        result: Result = {"changed": pending and request.state != "planned", "plan": _plan(rows, refused, lost)}
        if request.diff and pending:
            result["diff"] = plans.diff(rows, outputs)
        if refused and request.state != "planned":
            raise plans.refusal(request.name, refused)
        if lost and request.state != "planned":
            disruptions.refuse(request.name, lost, request.allow_disruption, _shown(program.outputs()))
        if look:
            return {**result, "outputs": _shown(program.outputs())}
        if pending:
            self._apply(_operations(rows), begun)
        return {**result, **self._hand_over(changed=pending)}

    def _show(self, rows: Sequence[plans.Change], pending: bool, look: bool) -> None:
        # Check mode prints every line. An apply prints its own lines later, so only losses are printed here too.
        shown = rows if look else [row for row in rows if row.action in ("replace", "destroy", "import", "forget")]
        if self.request.state == "absent" and not look:
            shown = []
        for line in plans.table(shown):
            self.program.say(f"{self.request.name} | {line}")
        summary = plans.summary(rows) or ("only outputs change" if pending else "nothing to do")
        self.program.say(f"{self.request.name} | plan: {summary}")

    def _plan(self, look: bool) -> bool:
        """Plan, import what a killed run created, plan again. The first plan also releases a lock that was left."""
        destroy = self.request.state == "absent"
        pending = self.program.plan(destroy=destroy)
        return self.program.plan(destroy=destroy) if import_orphans(self.program, check=look) else pending

    def _apply(self, total: int, begun: set[str]) -> None:
        """Apply the plan. First save what the last apply's record shows, because this apply overwrites it."""
        write_atomically(self.program.data / _JOURNAL, to_json({"total": total, "unfinished": sorted(begun)}))
        if total:
            note = "begun; Terraform continues to the end even if this play is interrupted"
            self.program.say(f"{self.request.name} | {note}")
        try:
            self.program.apply(total)
        except ExistsError as error:
            error.details["known"] = sorted(self.program.resources().values())
            raise

    def _hand_over(self, *, changed: bool) -> Result:
        """Return the outputs with sensitive values masked. Write the real values to the requested file."""
        outputs = self.program.outputs()
        file = self.request.outputs_file
        if file is not None:
            text = to_json({name: found.get("value") for name, found in outputs.items()})
            if not file.is_file() or file.read_text(encoding="utf-8") != text:
                write_atomically(file, text, private=True)
                changed = True
        return {"outputs": _shown(outputs), "changed": changed}


def _shown(outputs: Mapping[str, t.Any]) -> Result:
    """Return the values of the outputs, with sensitive values masked."""
    return {name: plans.SENSITIVE if found.get("sensitive") else found.get("value") for name, found in outputs.items()}


def _plan(
    rows: Sequence[plans.Change], refused: Sequence[plans.Change], lost: Sequence[disruptions.Disruption]
) -> Result:
    return {
        "summary": plans.summary(rows),
        "changes": [row.row() for row in rows],
        "refused": [row.address for row in refused],
        "disruptions": [row.row() for row in lost],
    }


def _operations(rows: Sequence[plans.Change]) -> int:
    """Return how many operations apply will report: two for a replacement, none for forget and import."""
    counts = {"create": 1, "change": 1, "destroy": 1, "replace": 2}
    return sum(counts.get(row.action, 0) for row in rows)
