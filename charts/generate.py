#!/usr/bin/env python
"""Write what is derived in the charts from `keys.yaml` and each chart's own `keys.yaml`.

Derived are, in each chart: `Chart.yaml`, `values.yaml`, `values.schema.json`, `defaults.json` (what stands in for a key
that a recipe leaves blank), `ci/everything-values.yaml` and the table of values in the README.

Usage: `python charts/generate.py` writes; `--check` writes nothing and exits with 1 when something is out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

DRAFT = "http://json-schema.org/draft-07/schema#"
CHARTS = Path(__file__).resolve().parent
START, END = "<!-- values: written by charts/generate.py -->", "<!-- /values -->"
# One version for the whole catalogue: that of the library chart, which every chart carries.
VERSION = "1.0.0"
# Keys that Helm sets itself: allowed by the schema, no business of recipes, unless the chart has keys of its own there.
HELM_KEYS = {
    "common": {"type": "object", "description": "Set by Helm for the library chart; not for recipes."},
    "global": {"type": "object", "description": "Set by Helm for sub-charts; not for recipes."},
}
# The name that the mixin `work` has for the program of a chart.
WORK = "WORK"

Json = dict[str, Any]


class _Dumper(yaml.SafeDumper):
    """Indents the items of a list, as yamllint wants it."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        """Indent, lists too."""
        super().increase_indent(flow, False)


def _dumped(content: Json) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=140)


def merged(below: Any, above: Any) -> Any:
    """Return `below` with `above` laid over it, mappings merged key by key."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}
    return above


def shared() -> Json:
    """Return the keys that charts share."""
    return _read(CHARTS / "keys.yaml")


@cache
def _read(path: Path) -> Json:
    # Through JSON, so that keys which share an anchor of YAML share no mapping: a chart may change the default of one.
    return dict(json.loads(json.dumps(yaml.safe_load(path.read_text()))))


def keys(chart: Path) -> Json:
    """Return every key of a chart, by name: `type`, `default` and `doc`; a group has `keys` instead of `type`."""
    own = _read(chart / "keys.yaml")
    found: Json = {}
    for mixin in own["mixins"]:
        group = deepcopy(shared()["mixins"][mixin])
        if WORK in group:
            group = {own["work"]: group[WORK]}
        found = merged(found, group)
    found = merged(found, own.get("keys", {}))
    for name in own.get("without", []):
        del found[name]
    for field in ("default", "doc"):
        for path, value in own.get(f"{field}s", {}).items():
            _at(found, path)[field] = value
    return found


def _at(found: Json, path: str) -> Json:
    """Return the key at a dotted path; raises SystemExit for one that is not there."""
    node: Json = {"keys": found}
    for part in path.split("."):
        if part not in node.get("keys", {}):
            raise SystemExit(f"keys.yaml changes {path}, which is no key of the chart")
        node = node["keys"][part]
    return node


def settable(found: Json) -> Json:
    """Return the keys that a recipe may set: one without a default is listed to be refused."""
    return {name: key for name, key in found.items() if "keys" in key or "default" in key}


def default(key: Json) -> Any:
    """Return the default of a key."""
    if "keys" in key:
        return {name: default(child) for name, child in settable(key["keys"]).items()}
    return key["default"]


def stand_in(key: Json) -> Json:
    """Return what stands in for a blank key: a group's `keys`; another's `default`, and `blank` where that differs.

    A blank list or map is empty, unless it must not be: so do Helm's users remove a default, a list of claims for one.
    """
    if "keys" in key:
        return {"keys": {name: stand_in(child) for name, child in settable(key["keys"]).items()}}
    value = key["default"]
    needed = not isinstance(value, (dict, list)) or resolved(property_of(key)).get("minItems")
    blank = key.get("blank", value if needed else type(value)())
    return {"default": value} | ({} if blank == value else {"blank": blank})


def property_of(key: Json) -> Json:
    """Return the schema of a key."""
    doc = {"description": key["doc"]} if "doc" in key else {}
    if "keys" in key:
        children = {name: property_of(child) for name, child in key["keys"].items()}
        return {**doc, "type": "object", "additionalProperties": False, "properties": children}
    if isinstance(key["type"], str):
        return {**doc, "$ref": f"#/definitions/{key['type']}"}
    return {**doc, **_references(key["type"])}


def _references(node: Any) -> Any:
    """Return a schema with each `$use` as a reference to its definition."""
    if isinstance(node, list):
        return [_references(item) for item in node]
    if not isinstance(node, dict):
        return node
    own = {key: _references(value) for key, value in node.items() if key != "$use"}
    if "$use" not in node:
        return own
    # Draft 7 ignores what stands beside `$ref`.
    if own.keys() <= {"description"}:
        return {**own, "$ref": f"#/definitions/{node['$use']}"}
    return {**_references(shared()["types"][node["$use"]]), **own}


def schema(chart: Path) -> Json:
    """Return the JSON schema (draft-07) of a chart's values."""
    own = {name: property_of(key) for name, key in keys(chart).items()}
    properties = own | {name: node for name, node in HELM_KEYS.items() if name not in own}
    used: Json = {}
    pending = list(_named(properties))
    while pending:
        name = pending.pop()
        if name not in used:
            used[name] = _references(shared()["types"][name])
            pending += _named(used[name])
    return {
        "$schema": DRAFT,
        "title": f"Values of the chart {chart.relative_to(CHARTS)}",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "definitions": {name: used[name] for name in shared()["types"] if name in used},
    }


def _named(node: Any) -> Iterator[str]:
    """Yield the definitions that a schema refers to."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].rpartition("/")[2]
        for value in node.values():
            yield from _named(value)
    elif isinstance(node, list):
        for item in node:
            yield from _named(item)


def resolved(node: Json) -> Json:
    """Return the schema of a key with its definition written out."""
    if "$ref" not in node:
        return node
    found = resolved(_references(shared()["types"][node["$ref"].rpartition("/")[2]]))
    return {**found, **{key: value for key, value in node.items() if key != "$ref"}}


def values(chart: Path) -> str:
    """Return `values.yaml`: defaults, each under its meaning."""
    return "# Written by charts/generate.py from keys.yaml.\n" + _values(keys(chart), "")


def _values(found: Json, indent: str) -> str:
    return "".join(_value(name, key, indent) for name, key in settable(found).items())


def _value(name: str, key: Json, indent: str) -> str:
    mark = "# " if "keys" in key else "# -- "
    prefix = f"{indent}# "
    comment = textwrap.fill(key.get("doc", ""), 150, initial_indent=indent + mark, subsequent_indent=prefix)
    lines = f"{comment}\n" if key.get("doc") else ""
    if "keys" in key:
        return f"{lines}{indent}{name}:\n{_values(key['keys'], f'{indent}  ')}"
    text = _dumped({name: key["default"]})
    return lines + textwrap.indent(text, indent)


def rows(node: Json, standard: Any, path: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Yield key, type, default and meaning of every value that a schema allows; items of lists are spelled `key[]`."""
    for name, reference in node.get("properties", {}).items():
        child = resolved(reference)
        if "const" in child or reference is HELM_KEYS.get(name):
            continue
        key = f"{path}.{name}".lstrip(".")
        value = standard.get(name, _MISSING) if isinstance(standard, dict) else _MISSING
        if child.get("writeOnly"):
            yield key, "string or secretKeyRef", _default(value), _meaning(child)
            continue
        if "properties" not in child or value in ({}, _MISSING):
            yield key, _type(child), _default(value), _meaning(child)
        yield from rows(child, value, key)
        if isinstance(child.get("items"), dict):
            yield from rows(resolved(child["items"]), _MISSING, f"{key}[]")


_MISSING = object()


def _meaning(node: Json) -> str:
    return str(node.get("description", "")).replace("|", "\\|")


def _kinds(node: Json) -> list[str]:
    kinds = node.get("type", "any")
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _type(node: Json) -> str:
    if "enum" in node:
        return ", ".join(map(str, node["enum"]))
    name = " or ".join(kind for kind in _kinds(node) if kind != "null")
    items = resolved(node["items"]).get("type") if "items" in node else None
    return f"{name} of {' or '.join([items] if isinstance(items, str) else items)}" if items else name


def _default(value: Any) -> str:
    return "" if value is _MISSING or value in ("", None) else f"`{json.dumps(value, ensure_ascii=False)}`"


def table(chart: Path) -> str:
    """Return the table of a chart's values, in Markdown."""
    head = "| key | type | default | meaning |\n| --- | --- | --- | --- |\n"
    return head + "\n".join(
        f"| `{key}` | {kind} | {value} | {text} |"
        for key, kind, value, text in rows(schema(chart), default({"keys": keys(chart)}))
    )


def example(chart: Path) -> str:
    """Return `ci/everything-values.yaml`: a value for every key; raises SystemExit for a key without an example."""
    own = _read(chart / "keys.yaml")
    given = dict(shared()["examples"])
    given[own["work"]] = merged(given.pop(WORK), given.get(own["work"], {}))
    given["image"] = given.get("server_image" if "server_image" in own["mixins"] else "image")
    content = _examples(keys(chart), merged(given, own.get("examples", {})), chart.name)
    head = "# Written by charts/generate.py: a value for every key.\n"
    return head + _dumped(content)


def _examples(found: Json, given: Any, path: str) -> Json:
    content: Json = {}
    for name, key in settable(found).items():
        if not isinstance(given, dict) or name not in given:
            raise SystemExit(f"no example for the key {path}.{name}: add it to `examples` of a keys.yaml")
        content[name] = _examples(key["keys"], given[name], f"{path}.{name}") if "keys" in key else given[name]
    return content


def metadata(chart: Path) -> str:
    """Return `Chart.yaml`."""
    own = _read(chart / "keys.yaml")
    content = {
        "apiVersion": "v2",
        "name": chart.name,
        "description": own["description"],
        "type": "application",
        "version": VERSION,
        "appVersion": VERSION,
        "kubeVersion": ">=1.31.0-0",
        "keywords": own["keywords"],
        # `image: optional`: a step may leave it blank.
        "annotations": {f"mlops.eks/{key}": own[key] for key in ("until", "image") if key in own},
        "dependencies": [{"name": "common", "version": VERSION, "repository": "file://../../common"}],
    }
    head = "# Written by charts/generate.py from keys.yaml.\n"
    return head + _dumped(content)


def outputs(chart: Path) -> dict[Path, str]:
    """Return what the derived files of a chart should hold, by file."""
    readme = chart / "README.md"
    before, rest = readme.read_text().split(START)
    after = rest.split(END)[1]
    stand_ins = stand_in({"keys": keys(chart)})["keys"]
    return {
        chart / "Chart.yaml": metadata(chart),
        chart / "values.yaml": values(chart),
        chart / "values.schema.json": json.dumps(schema(chart), indent=2, ensure_ascii=False) + "\n",
        chart / "defaults.json": json.dumps(stand_ins, ensure_ascii=False) + "\n",
        chart / "ci" / "everything-values.yaml": example(chart),
        readme: f"{before}{START}\n\n{table(chart)}\n\n{END}{after}",
    }


def charts() -> list[Path]:
    """Return the directories of the charts that have values of their own."""
    return sorted(path.parent for path in CHARTS.glob("*/*/keys.yaml"))


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
