"""Blank keys, which recipes are full of: what stands in for them renders, and no template stumbles over them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml
from chart_cases import CHARTS, MINIMAL, NAMES, HelmError, Render, at, having

Values = dict[str, Any]
DEFAULTS: dict[str, Values] = {name: yaml.safe_load((CHARTS / name / "values.yaml").read_text()) for name in NAMES}
# Lists that cannot be empty: blank, they are their defaults.
NEEDED = {"ssh.command", "server.autoscaling.metrics"}


def paths(stand_ins: Values, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every key of a chart as a dotted path, and whether it is a group of others."""
    for name, key in stand_ins.items():
        here = f"{path}.{name}".lstrip(".")
        yield here, "keys" in key
        yield from paths(key.get("keys", {}), here)


def stand_ins(chart: str) -> Values:
    return dict(json.loads((CHARTS / chart / "defaults.json").read_text()))


def below(values: Values, path: str) -> Any:
    """The value at a dotted path, or None."""
    found: Any = values
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def meant(chart: str, key: str) -> Any:
    """What a blank key means, written out: an empty list or map, else the default; of a map, Helm takes away keys."""
    value = below(DEFAULTS[chart], key)
    if key == "shell_options":
        return ""
    if isinstance(value, dict):
        return dict.fromkeys(value)
    return [] if isinstance(value, list) and key not in NEEDED else value


def outcome(render: Render, chart: str, values: Values) -> object:
    """What is rendered, or the one sentence that says why not; never a trace of a template's inside."""
    try:
        return render(chart, values)
    except HelmError as refused:
        message = str(refused)
        assert "execution error at (" in message, message
        for trace in ("nil pointer", "error calling", "<nil>", "wrong type", "cannot unmarshal"):
            assert trace not in message, message
        return message


GROUPS = [(chart, key) for chart in NAMES for key, group in paths(stand_ins(chart)) if group]


@pytest.mark.parametrize(("chart", "group"), GROUPS, ids=[f"{chart}-{group}" for chart, group in GROUPS])
def test_a_blank_group_is_its_defaults(chart: str, group: str, render: Render) -> None:
    """Also where the defaults cannot be meant: a blank program is refused as an empty one."""
    blank = outcome(render, chart, at(chart, group, None))
    assert blank == outcome(render, chart, at(chart, group, below(DEFAULTS[chart], group)))


@pytest.mark.parametrize("chart", NAMES)
def test_every_other_blank_key_is_its_default_or_empty(chart: str, render: Render) -> None:
    """All at once, but for what the smallest values need."""
    blank, given = deepcopy(MINIMAL[chart]), deepcopy(MINIMAL[chart])
    for key, group in paths(stand_ins(chart)):
        if not group and below(MINIMAL[chart], key) is None:
            *parents, last = key.split(".")
            for values, value in ((blank, None), (given, meant(chart, key))):
                node = values
                for parent in parents:
                    node = node.setdefault(parent, {})
                node[last] = value
    assert outcome(render, chart, blank) == outcome(render, chart, given)


@pytest.mark.parametrize("chart", sorted({*having("image"), *having("server_image")}))
def test_a_chart_renders_without_an_image(chart: str, render: Render) -> None:
    """Recipes of the reference system leave it blank, as a build fills it; the engine refuses to install one."""
    key = "image.name" if chart in having("server_image") else "image"
    assert '"image": ""' in json.dumps(render(chart, at(chart, key, "")))
    assert render(chart, at(chart, key, None)) == render(chart, at(chart, key, below(DEFAULTS[chart], key)))
