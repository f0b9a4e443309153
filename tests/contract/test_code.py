"""What the code promises: layers, sizes, no way for a traceback or a path of somebody's machine to slip in."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "plugins").rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]
# A room and the rooms it may use beside itself; design.md 2.
LAYERS = {
    "_core": set(),
    "_recipe": {"_core"},
    "_kube": {"_core"},
    "_helm": {"_core", "_kube"},
    "_charts": {"_core", "_recipe", "_helm"},
    "_logs": {"_core", "_kube"},
    "_diagnose": {"_core", "_kube"},
    "_follow": {"_core", "_kube", "_recipe", "_diagnose", "_logs"},
    "_plan": {"_core", "_kube", "_recipe", "_helm", "_charts", "_diagnose", "_follow", "_logs", "_aws"},
    "_ledger": {"_core", "_kube", "_recipe", "_helm", "_plan"},
    "_teardown": {"_core", "_kube"},
    "_engine": {
        *("_core", "_kube", "_recipe", "_helm", "_charts", "_diagnose", "_follow", "_logs", "_plan", "_ledger"),
        "_teardown",
    },
    "_local": {"_core"},
    "_report": {"_core"},
    "_terraform": {"_core"},
    "_aws": {"_core", "_recipe", "_charts"},
}
_OURS = re.compile(r"ansible_collections\.mlops\.eks\.plugins\.module_utils\.(\w+)")
LONGEST_FILE, LONGEST_FUNCTION = 400, 40


def tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


def imports(name: str) -> Iterator[str]:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ImportFrom):
            yield f"{node.module}" if node.level == 0 else "relative"
            if node.module and node.module.endswith("module_utils"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("name", [name for name in NAMES if "/module_utils/" in name])
def test_imports_point_down(name: str) -> None:
    room = name.split("/")[2]
    if room.endswith(".py"):
        return
    assert room in LAYERS, f"give the room {room} its place in LAYERS"
    used = {match[1] for found in imports(name) if (match := _OURS.match(found))} - {room}
    assert used <= LAYERS[room]
    assert "relative" not in set(imports(name))
    assert not [found for found in imports(name) if "ansible.module_utils.basic" in found]


def documentation_lines(module: ast.Module) -> int:
    """Lines of the documentation blocks of a module, which are prose."""
    blocks = ("DOCUMENTATION", "EXAMPLES", "RETURN")
    return sum(
        (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in blocks
    )


@pytest.mark.parametrize("name", NAMES)
def test_files_and_functions_are_short(name: str) -> None:
    lines = len((ROOT / name).read_text(encoding="utf-8").splitlines()) - documentation_lines(tree(name))
    assert lines <= LONGEST_FILE
    long = {
        node.name: length
        for node in ast.walk(tree(name))
        if isinstance(node, ast.FunctionDef) and (length := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    }
    assert long == {}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_swallowed_or_asserted(name: str) -> None:
    found = []
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Assert):
            found.append(f"assert in line {node.lineno}")
        if isinstance(node, ast.ExceptHandler):
            caught = (
                [] if node.type is None else [entry for entry in ast.walk(node.type) if isinstance(entry, ast.Name)]
            )
            again = any(isinstance(inner, ast.Raise) and inner.exc is None for inner in ast.walk(node))
            if node.type is None or "Exception" in [entry.id for entry in caught]:
                found.append(f"everything is caught in line {node.lineno}")
            if "BaseException" in [entry.id for entry in caught] and not again:
                found.append(f"BaseException is swallowed in line {node.lineno}")
    assert found == []


# A file that only makes a directory a package has nothing to protect.
@pytest.mark.parametrize("name", [name for name in NAMES if (ROOT / name).stat().st_size])
def test_headers(name: str) -> None:
    head = "\n".join((ROOT / name).read_text(encoding="utf-8").splitlines()[:5])
    assert "Copyright (c) 2026 mlops.eks contributors" in head
    wanted = "BSD-2-Clause" if "/module_utils/" in name else "GPL-3.0-or-later"
    assert f"SPDX-License-Identifier: {wanted}" in head


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    # Made of parts, so that this file passes too.
    places = "|".join(("root", "work", "home/(?!me/)[a-z]+", "Users/[a-z]+"))
    pattern = re.compile(rf"(?<![\w./}}~>$-])/({places})/\w")
    found = {}
    for name in tracked():
        data = (ROOT / name).read_bytes()
        if b"\0" not in data[:8000] and (match := pattern.search(data.decode(errors="replace"))):
            found[name] = match[0]
    assert found == {}


@pytest.mark.parametrize("name", ["requirements-dev.txt", "requirements.txt"])
def test_locks_name_no_index(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text


def test_no_two_test_files_have_one_name() -> None:
    """Pytest imports a test file by its name alone."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
