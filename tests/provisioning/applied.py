# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What of terraform/ was really made and destroyed: recorded by the tests that do it, in applied/<program>.json.

The table of docs/provisioning.md is made of that: `python tests/provisioning/applied.py` writes it anew.
"""

from __future__ import annotations

import json
import re
import sys
import typing as t
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "provisioning.md"
BEGIN, END = "<!-- applied: begin -->\n", "<!-- applied: end -->\n"
PROGRAMS = ("terraform", "tofu")
_HEAD = "| resource | modules | Terraform | OpenTofu | by |"
_RESOURCE = re.compile(r'^resource "(\w+)" "(\w+)"', re.MULTILINE)
_CALL = re.compile(r'^module "(\w+)" \{\n\s*source\s*=\s*"[./\w-]*/([\w-]+)"', re.MULTILINE)


class Block(t.NamedTuple):
    """A `resource` block of a module; all that is made of it counts as one."""

    module: str
    type: str
    name: str


class Applied(t.NamedTuple):
    """What one program made and destroyed in one test."""

    test: str
    program: str
    blocks: frozenset[Block]


def blocks() -> frozenset[Block]:
    """Return all there are in terraform/."""
    files = (ROOT / "terraform/modules").glob("*/*.tf")
    return frozenset(
        Block(file.parent.name, *found) for file in files for found in _RESOURCE.findall(file.read_text("utf-8"))
    )


def of_state(addresses: t.Iterable[str]) -> frozenset[Block]:
    """Return the blocks of which a state of stacks/cluster holds something, by the addresses in it."""
    called = {name: module for file in (ROOT / "terraform").glob("*/*/*.tf") for name, module in _calls(file)}
    plain = (re.sub(r"\[[^\]]*\]", "", address).split(".") for address in addresses)
    # module.karpenter.module.controller.aws_iam_role.this
    return frozenset(Block(called[parts[-3]], *parts[-2:]) for parts in plain if parts[-3] != "data")


def _calls(file: Path) -> list[tuple[str, str]]:
    return [(name, module) for name, module in _CALL.findall(file.read_text(encoding="utf-8"))]


def recorded() -> dict[str, Applied]:
    """Return what each program did when it was last recorded."""
    return {name: _read(name) for name in PROGRAMS if _file(name).is_file()}


def record(name: str, found: Applied) -> None:
    """Keep what a program did."""
    document = found._asdict() | {"blocks": [" ".join(block) for block in sorted(found.blocks)]}
    _file(name).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def table() -> str:
    """Return one line per type of resource."""
    done, kinds = recorded(), sorted({block.type for block in blocks()})
    lines = [_HEAD, "|---|---|---|---|---|"]
    for kind in kinds:
        mine = frozenset(block for block in blocks() if block.type == kind)
        modules = ", ".join(f"`{name}`" for name in sorted({block.module for block in mine}))
        made = [_made(mine, done[name].blocks) if name in done else "not run" for name in PROGRAMS]
        lines.append(f"| `{kind}` | {modules} | {' | '.join(made)} | {_answered(kind)} |")
    said = [f"{found.program} by `{found.test}`" for found in done.values()]
    return "\n".join(lines) + f"\n\nRecorded: {'; '.join(said)}.\n"


def _made(mine: frozenset[Block], applied: frozenset[Block]) -> str:
    missing = sorted(mine - applied)
    if len(missing) == len(mine):
        return "not made"
    if missing:
        return f"made and destroyed; not made: {', '.join(f'`{block.module}` `{block.name}`' for block in missing)}"
    return "made and destroyed"


def _answered(kind: str) -> str:
    """Return who answers for a type: the fakes of whole services, moto with calls of ours, or moto."""
    from fakes.aws import missing
    from fakes.aws.server import SERVICES

    noun = kind.removeprefix("aws_").removeprefix("efs_").removeprefix("iam_")
    if kind.split("_")[1] in SERVICES:
        return f"`tests/fakes/aws`: {kind.split('_')[1]}"
    calls = {name.partition("_")[2] for name in vars(missing) if name.startswith(("create_", "put_", "delete_"))}
    return "moto, patched by `missing.py`" if noun in calls else "moto"


def page(text: str) -> str:
    """Return the page `text` with the table."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


def _file(name: str) -> Path:
    return Path(__file__).parent / "applied" / f"{name}.json"


def _read(name: str) -> Applied:
    found = json.loads(_file(name).read_text(encoding="utf-8"))
    rows = frozenset(Block(*line.split()) for line in found["blocks"])
    return Applied(found["test"], found["program"], rows)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
