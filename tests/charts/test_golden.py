"""What every chart renders for the values files that come with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from chart_cases import CASE_IDS, CASES, GOLDEN, Document, Render


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, so that differences of scripts can be read."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def canonical(documents: list[Document]) -> str:
    """Return documents as text that differs only where their meaning does: sorted by kind and name, keys sorted."""
    ordered = sorted(documents, key=lambda one: (one["kind"], one["metadata"]["name"]))
    return yaml.dump_all(ordered, Dumper=_Dumper, sort_keys=True, width=150, allow_unicode=True, explicit_start=True)


@pytest.mark.parametrize(("chart", "values"), CASES, ids=CASE_IDS)
def test_golden(chart: str, values: Path, render: Render, request: pytest.FixtureRequest) -> None:
    golden = GOLDEN / chart / f"{values.name.removesuffix('-values.yaml')}.yaml"
    rendered = canonical(render(chart, values))
    if request.config.getoption("--update-golden", default=False):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(rendered)
    assert golden.is_file(), f"no golden file yet: pytest {Path(__file__).parent} --update-golden"
    assert golden.read_text() == rendered


def test_no_golden_without_a_case() -> None:
    """A values file that goes takes its golden file with it."""
    expected = {GOLDEN / chart / f"{values.name.removesuffix('-values.yaml')}.yaml" for chart, values in CASES}
    assert set(GOLDEN.rglob("*.yaml")) == expected


def _untouched(document: Any) -> Any:
    return yaml.safe_load(yaml.safe_dump(document))


@pytest.mark.parametrize(("chart", "values"), CASES, ids=CASE_IDS)
def test_canonical_form_keeps_the_meaning(chart: str, values: Path, render: Render) -> None:
    documents = render(chart, values)
    again = list(yaml.safe_load_all(canonical(documents)))
    assert sorted(map(repr, map(_untouched, again))) == sorted(map(repr, map(_untouched, documents)))
