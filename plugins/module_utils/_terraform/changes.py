# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The changes of a plan: a table, the attributes that differ, and the changes that are refused.

Source: Terraform documentation, "JSON output format" (internals/json-format), and OpenTofu's page of the same name:
`resource_changes[].change` with actions, before, after, after_unknown, before_sensitive, after_sensitive,
replace_paths, and `action_reason`.
"""

from __future__ import annotations

import typing as t
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.disruptions import KIND as NODES
from ansible_collections.mlops.eks.plugins.module_utils._terraform.disruptions import quoted

Document = Mapping[str, t.Any]
SENSITIVE = "(sensitive)"
UNKNOWN = "(known after apply)"
# Shorter texts occur elsewhere by chance.
_SECRET = 6
_ACTIONS = {
    ("create",): "create",
    ("update",): "change",
    ("delete",): "destroy",
    ("delete", "create"): "replace",
    ("create", "delete"): "replace",
    ("forget",): "forget",
    ("create", "forget"): "replace",
    ("forget", "create"): "replace",
}
# Reasons that no attribute shows, by `action_reason`.
_REASONS = {
    "replace_because_tainted": "its creation failed or was interrupted",
    "replace_by_request": "asked for",
    "replace_by_triggers": "replace_triggered_by",
    "delete_because_no_resource_config": "no longer in the stack",
    "delete_because_no_module": "its key or module is no longer in the stack",
    "delete_because_count_index": "count is smaller",
    "delete_because_each_key": "its key is gone from for_each",
    "delete_because_enabled_false": "its lifecycle.enabled is false",
    "delete_because_no_move_target": "it was moved to what is not in the stack",
    "delete_because_wrong_repetition": "count or for_each changed",
}
TAINTED = "replace_because_tainted"


class Change(t.NamedTuple):
    """The change of one resource. `before` and `after` hold the attributes that differ, masked."""

    address: str
    kind: str
    action: str
    reason: str
    forced_by: tuple[str, ...]
    before: dict[str, t.Any]
    after: dict[str, t.Any]

    def why(self) -> str:
        """Return why the resource is replaced or destroyed, or `""`."""
        if self.forced_by:
            return f"forced by {', '.join(self.forced_by)}"
        return _REASONS.get(self.reason, "")

    def row(self) -> dict[str, t.Any]:
        """Return the change as part of a task's result."""
        return {"action": self.action, "address": self.address, "type": self.kind, "why": self.why()}


def read_changes(plan: Document) -> list[Change]:
    """Return the changes in the output of `terraform show -json PLAN`, sorted by address, without data sources."""
    rows = [_change(entry) for entry in plan.get("resource_changes") or [] if entry.get("mode") == "managed"]
    return sorted((row for row in rows if row is not None), key=lambda row: row.address)


def read_outputs(plan: Document) -> tuple[dict[str, t.Any], dict[str, t.Any]]:
    """Return the outputs that would change, before and after, masked."""
    before: dict[str, t.Any] = {}
    after: dict[str, t.Any] = {}
    for name, change in (plan.get("output_changes") or {}).items():
        if change.get("actions") != ["no-op"]:
            # A new output is marked sensitive on both sides.
            known = change.get("before") is not None
            before[name] = _shown(change.get("before"), known and change.get("before_sensitive"), False)
            after[name] = _shown(change.get("after"), change.get("after_sensitive"), change.get("after_unknown"))
    return before, after


def secrets(plan: Document) -> Iterator[str]:
    """Yield the texts that are marked sensitive anywhere in a plan.

    Terraform does not mark the values that a resource computes from a sensitive one.
    """
    changes = [entry["change"] for entry in plan.get("resource_changes") or []]
    for change in (*changes, *(plan.get("output_changes") or {}).values()):
        for side in ("before", "after"):
            yield from _marked(change.get(side), change.get(f"{side}_sensitive"))
    declared = ((plan.get("configuration") or {}).get("root_module") or {}).get("variables") or {}
    for name, variable in (plan.get("variables") or {}).items():
        yield from _marked(variable.get("value"), (declared.get(name) or {}).get("sensitive"))


def diff(changes: Sequence[Change], outputs: tuple[Document, Document]) -> dict[str, t.Any]:
    """Return every attribute that would change, before and after, for Ansible's `--diff`."""
    before: dict[str, t.Any] = {row.address: row.before for row in changes if row.before}
    after: dict[str, t.Any] = {row.address: row.after for row in changes if row.after}
    for side, shown in ((before, outputs[0]), (after, outputs[1])):
        known = {name: value for name, value in shown.items() if value is not None}
        if known:
            side["outputs"] = known
    return {"before": before, "after": after}


def summary(changes: Iterable[Change]) -> str:
    """Return `17 to create, 1 to replace`."""
    counts: dict[str, int] = {}
    for row in changes:
        counts[row.action] = counts.get(row.action, 0) + 1
    order = ("create", "import", "change", "replace", "destroy", "forget")
    return ", ".join(f"{counts[action]} to {action}" for action in order if action in counts)


def table(changes: Sequence[Change]) -> list[str]:
    """Return one line per change: action, address and reason."""
    return [f"{row.action:<8} {row.address}" + (f"  ({row.why()})" if row.why() else "") for row in changes]


def refused(
    changes: Iterable[Change], protected: Collection[str], allowed: Collection[str], unfinished: Collection[str]
) -> list[Change]:
    """Return the changes that would destroy a resource of a `protected` kind and that are not allowed.

    `allowed` holds addresses and kinds. A resource in `unfinished`, whose creation never completed, holds nothing
    and may be replaced for that reason.
    """
    return [
        row
        for row in changes
        if row.action in ("replace", "destroy")
        and row.kind in protected
        and not {row.address, row.kind} & set(allowed)
        and not (row.reason == TAINTED and row.address in unfinished)
    ]


def refusal(subject: str, rows: Sequence[Change]) -> ConflictError:
    """Return the error that names what would be lost, and the option that allows it."""
    effects = "; ".join(f"{row.action} {row.address}" + (f" ({row.why()})" if row.why() else "") for row in rows)
    kinds = {row.kind for row in rows}
    lost = [*(["its data"] if kinds != {NODES} else []), *(["what runs on its nodes"] if NODES in kinds else [])]
    healthy = " If its creation did succeed, untaint it." if any(row.reason == TAINTED for row in rows) else ""
    return ConflictError(
        f"{subject}: refused, nothing was changed: this would {effects}, and lose"
        f" {' and '.join(lost)}.{healthy} To allow it: allow_replace:"
        f" [{', '.join(quoted(row.address) for row in rows)}].",
        refused=[row.row() for row in rows],
    )


def _change(entry: Document) -> Change | None:
    change = entry["change"]
    action = _ACTIONS.get(tuple(change["actions"]), "")
    if change.get("importing") and action in ("", "change"):
        action = "import"
    if not action:
        return None
    before = _shown(change.get("before"), change.get("before_sensitive"), False)
    after = _shown(change.get("after"), change.get("after_sensitive"), change.get("after_unknown"))
    before, after = _differing(before, after, change)
    paths = tuple(_path(path) for path in change.get("replace_paths") or () if path)
    return Change(entry["address"], entry["type"], action, entry.get("action_reason") or "", paths, before, after)


def _differing(before: t.Any, after: t.Any, change: Document) -> tuple[dict[str, t.Any], dict[str, t.Any]]:
    """Return the attributes that differ. Masked attributes are compared by their real values."""
    old, new = (side if isinstance(side, dict) else {} for side in (before, after))
    raw_old, raw_new = change.get("before") or {}, change.get("after") or {}
    keys = [
        key
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key) or (key in new and raw_old.get(key) != raw_new.get(key))
    ]
    return (
        {key: old[key] for key in keys if old.get(key) is not None},
        {key: new[key] for key in keys if new.get(key) is not None},
    )


def _shown(value: t.Any, sensitive: t.Any, unknown: t.Any) -> t.Any:
    """Return a value with sensitive parts masked and unknown parts named; `sensitive` and `unknown` are mark trees."""
    if sensitive is True:
        return SENSITIVE
    if unknown is True:
        return UNKNOWN
    if isinstance(value, dict) or isinstance(unknown, dict):
        inner = value if isinstance(value, dict) else {}
        keys = [*inner, *(key for key in _mapping(unknown) if key not in inner and _mapping(unknown)[key])]
        return {key: _shown(inner.get(key), _mapping(sensitive).get(key), _mapping(unknown).get(key)) for key in keys}
    if isinstance(value, list):
        marks, blanks = _marks(sensitive, len(value)), _marks(unknown, len(value))
        return [_shown(one, mark, blank) for one, mark, blank in zip(value, marks, blanks, strict=True)]
    return value


def _marked(value: t.Any, marks: t.Any) -> Iterator[str]:
    if marks is True and isinstance(value, str):
        if len(value) >= _SECRET:
            yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _marked(inner, marks is True or _mapping(marks).get(key))
    elif isinstance(value, list):
        for inner, mark in zip(value, [True] * len(value) if marks is True else _marks(marks, len(value)), strict=True):
            yield from _marked(inner, mark)


def _mapping(marks: t.Any) -> dict[str, t.Any]:
    return marks if isinstance(marks, dict) else {}


def _marks(marks: t.Any, length: int) -> list[t.Any]:
    found = marks if isinstance(marks, list) else []
    return [*found[:length], *[False] * (length - len(found))]


def _path(path: Sequence[t.Any]) -> str:
    """Return `vpc_config[0].subnet_ids` of `["vpc_config", 0, "subnet_ids"]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
