# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The output of `terraform` and `tofu` with `-json`: one JSON object per line, with a `type`.

Source: Terraform documentation, "Machine-readable UI output reference" (internals/machine-readable-ui, version 1.2 of
the format); OpenTofu's page of the same name describes the same. Recorded: tests/fixtures/terraform.

| type | content |
|---|---|
| `version` | `terraform` or `tofu`, the program's version; `ui`, the format's |
| `state_lock_acquire` | written while waiting for the lock of the state; not in the reference |
| `diagnostic` | `diagnostic`: severity, summary, detail, address, range {filename, start {line}} |
| `refresh_start`, `refresh_complete` | `hook.resource.addr` |
| `planned_change`, `resource_drift` | `change`: resource, action, reason |
| `change_summary` | `changes`: add, change, import, remove, operation |
| `apply_start`, `apply_progress` | `hook`: resource, action (`create`, `update`, `delete`, `read`), elapsed_seconds |
| `apply_complete`, `apply_errored` | `hook`: the same, with id_key and id_value when complete |
| `outputs` | `outputs`: name to sensitive, type, value |
| `log`, `init_output`, `provision_*` | `@message` |
"""

from __future__ import annotations

import json
import re
import typing as t
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

Event = dict[str, t.Any]
# Both programs write warnings and crashes in plain text even with -json; such a line becomes an event of this type.
TEXT = "text"


def parse(line: str) -> Event:
    """Return the event of a line of output."""
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if isinstance(found, dict) and isinstance(found.get("type"), str):
        return found
    return {"type": TEXT, "@message": line}


def read(file: Path) -> Iterator[Event]:
    """Yield the events of a saved output; none when the file does not exist."""
    if file.is_file():
        yield from map(parse, file.read_text(encoding="utf-8", errors="replace").splitlines())


def hook(event: Event) -> tuple[str, str, str]:
    """Return address, action and identifier of the resource of an `apply_*` event; `""` for missing ones."""
    found = event.get("hook") or {}
    address = (found.get("resource") or {}).get("addr") or ""
    return address, found.get("action") or "", str(found.get("id_value") or "")


def seconds(text: str) -> float:
    """Return seconds since the epoch of `2026-11-21T15:25:00.5Z` or Go's `2026-11-21 15:25:00.506568737 +0000 UTC`."""
    match = re.match(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,6})?\d*\s*(Z|[+-]\d\d:?\d\d)?", text)
    if match is None:
        return 0.0
    zone = (match[4] or "Z").replace("Z", "+00:00")
    return datetime.fromisoformat(f"{match[1]}T{match[2]}{match[3] or ''}{zone}").timestamp()


def moment(event: Event) -> float:
    """Return the time of an event in seconds since the epoch; 0 for plain text."""
    return seconds(event.get("@timestamp", ""))


def unfinished(known: Iterable[str], events: Iterable[Event]) -> set[str]:
    """Return the resources whose creation started and never completed, including those in `known`.

    Such a resource holds no data yet, so it may be replaced even if its kind is protected.
    """
    found = set(known)
    for event in events:
        address, action, _ = hook(event)
        if event["type"] == "apply_start" and action == "create":
            found.add(address)
        elif event["type"] == "apply_complete":
            found.discard(address)
    return found


class Created(t.NamedTuple):
    """A created resource: its type and its identifier."""

    kind: str
    identifier: str


def created(events: Iterable[Event]) -> dict[str, Created]:
    """Return the resources that were created and not destroyed again, by address."""
    found: dict[str, Created] = {}
    for event in events:
        address, action, identifier = hook(event)
        if event["type"] != "apply_complete":
            continue
        if action == "create" and identifier:
            found[address] = Created((event["hook"].get("resource") or {}).get("resource_type") or "", identifier)
        elif action == "delete":
            found.pop(address, None)
    return found
