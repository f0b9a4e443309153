#!/usr/bin/env python
"""Write what is derived in the charts: each `values.schema.json`, and the table of values in each README.

A chart's `values.yaml` holds its keys, their defaults and, in `# --` comments, their meaning; its `schema.yaml` holds
their types, in the terms of `definitions.yaml`. The schema that Helm reads and the table that people read follow.

Usage: `python charts/generate.py` writes; `--check` writes nothing and exits with 1 when something is out of date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

DRAFT = "http://json-schema.org/draft-07/schema#"
CHARTS = Path(__file__).resolve().parent
START, END = "<!-- values: written by charts/generate.py -->", "<!-- /values -->"
# Keys that Helm sets itself: allowed by the schema, no business of recipes.
HELM_KEYS = frozenset({"common", "global"})

Json = dict[str, Any]


def merged(below: Any, above: Any) -> Any:
    """Return `below` with `above` laid over it, mappings merged key by key."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}
    return above


def expanded(node: Any, definitions: Json) -> Any:
    """Return a schema with each `$use` replaced by the definition it names, the keys beside it laid over."""
    if isinstance(node, list):
        return [expanded(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    own = {key: expanded(value, definitions) for key, value in node.items() if key != "$use"}
    return merged(expanded(definitions[node["$use"]], definitions), own) if "$use" in node else own


def closed(node: Any) -> Any:
    """Return a schema in which every object with properties refuses others."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    is_object = "object" in _kinds(node) and "properties" in node
    return {
        **{key: closed(value) for key, value in node.items()},
        **({"additionalProperties": False} if is_object else {}),
    }


def comments(text: str) -> dict[str, str]:
    """Return the meaning of each key of a `values.yaml`, by dotted path, from the comment lines above it."""
    found: dict[str, str] = {}
    path: list[str] = []
    pending: list[str] = []
    for line in text.splitlines():
        if comment := re.match(r"\s*# ?(.*)", line):
            pending.append(comment[1])
        elif key := re.match(r"((?:  )*)([A-Za-z_]\w*):", line):
            path = [*path[: len(key[1]) // 2], key[2]]
            if pending:
                found[".".join(path)] = " ".join(pending).removeprefix("-- ")
            pending = []
    return found


def described(node: Json, meanings: dict[str, str], path: str = "") -> Json:
    """Return a schema whose properties carry the meaning that `values.yaml` gives them."""
    children = node.get("properties", {}).items()
    properties = {name: described(child, meanings, f"{path}.{name}".lstrip(".")) for name, child in children}
    meaning = {"description": meanings[path]} if path in meanings else {}
    return {**meaning, **node, **meaning, **({"properties": properties} if properties else {})}


def schema(chart: Path) -> Json:
    """Return the JSON schema (draft-07) of a chart's values."""
    definitions = yaml.safe_load((CHARTS / "definitions.yaml").read_text())
    types = closed(expanded(yaml.safe_load((chart / "schema.yaml").read_text()), definitions))
    head = {"$schema": DRAFT, "title": f"Values of the chart {chart.relative_to(CHARTS)}"}
    return {**head, **described(types, comments((chart / "values.yaml").read_text()))}


def rows(node: Json, default: Any, path: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Yield key, type, default and meaning of every value that a schema allows; items of lists are spelled `key[]`."""
    for name, child in sorted(node.get("properties", {}).items(), key=lambda pair: _order(pair[0], default)):
        if "const" in child or (not path and name in HELM_KEYS):
            continue
        key = f"{path}.{name}".lstrip(".")
        value = default.get(name, _MISSING) if isinstance(default, dict) else _MISSING
        if child.get("writeOnly"):
            yield key, "string or secretKeyRef", _default(value), _meaning(child)
            continue
        if "properties" not in child or value in ({}, _MISSING):
            yield key, _type(child), _default(value), _meaning(child)
        yield from rows(child, value, key)
        if isinstance(child.get("items"), dict):
            yield from rows(child["items"], _MISSING, f"{key}[]")


_MISSING = object()


def _order(name: str, default: Any) -> int:
    """Return the place of a key: the order of `values.yaml`, then that of the schema."""
    return list(default).index(name) if isinstance(default, dict) and name in default else 1000


def _meaning(node: Json) -> str:
    return str(node.get("description", "")).replace("|", "\\|")


def _kinds(node: Json) -> list[str]:
    kinds = node.get("type", "any")
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _type(node: Json) -> str:
    if "enum" in node:
        return ", ".join(map(str, node["enum"]))
    name = " or ".join(kind for kind in _kinds(node) if kind != "null")
    items = node.get("items", {}).get("type")
    return f"{name} of {' or '.join([items] if isinstance(items, str) else items)}" if items else name


def _default(value: Any) -> str:
    return "" if value is _MISSING or value in ("", None) else f"`{json.dumps(value)}`"


def table(chart: Path) -> str:
    """Return the table of a chart's values, in Markdown."""
    default = yaml.safe_load((chart / "values.yaml").read_text())
    head = "| key | type | default | meaning |\n| --- | --- | --- | --- |\n"
    return head + "\n".join(
        f"| `{key}` | {kind} | {value} | {text} |" for key, kind, value, text in rows(schema(chart), default)
    )


def outputs(chart: Path) -> dict[Path, str]:
    """Return what the derived files of a chart should hold, by file."""
    readme = chart / "README.md"
    before, rest = readme.read_text().split(START)
    after = rest.split(END)[1]
    return {
        chart / "values.schema.json": json.dumps(schema(chart), indent=2, ensure_ascii=False) + "\n",
        readme: f"{before}{START}\n\n{table(chart)}\n\n{END}{after}",
    }


def charts() -> list[Path]:
    """Return the directories of the charts that have values of their own."""
    return sorted(path.parent for path in CHARTS.glob("*/*/schema.yaml"))


def main(arguments: list[str] | None = None) -> int:
    """Write the derived files, or check them. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when something is out of date")
    check = parser.parse_args(arguments).check
    derived = [item for chart in charts() for item in outputs(chart).items()]
    stale = [(path, text) for path, text in derived if not path.is_file() or path.read_text() != text]
    verdict = "out of date, run charts/generate.py" if check else "written"
    for path, text in stale:
        print(f"{path.relative_to(CHARTS.parent)}: {verdict}")
        if not check:
            path.write_text(text)
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
