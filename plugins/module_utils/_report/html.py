# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Render a run as one self-contained page. The same run always gives the same bytes."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
import typing as t
from urllib.parse import quote

from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import jinja2
from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import SEVERITY
from ansible_collections.mlops.eks.plugins.module_utils._report import formatting, timeline
from ansible_collections.mlops.eks.plugins.module_utils._report.model import GOOD, Cluster, Run, Step
from ansible_collections.mlops.eks.plugins.module_utils._report.parse import clean, moment
from ansible_collections.mlops.eks.plugins.module_utils._report.style import SCRIPT, STYLE
from ansible_collections.mlops.eks.plugins.module_utils._report.templates import PAGE

_ISO_MOMENT = re.compile(r"\b20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")

# Drawn on a 16 × 16 grid with round strokes of 1.75.
_GLYPHS = {
    "check": '<circle cx="8" cy="8" r="6.6"/><path d="m5.2 8.2 2 2 3.7-4.1"/>',
    "cross": '<circle cx="8" cy="8" r="6.6"/><path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4"/>',
    "clock": '<circle cx="8" cy="8" r="6.6"/><path d="M8 4.6V8l2.2 1.6"/>',
    "stop": '<circle cx="8" cy="8" r="6.6"/><path d="M5 8h6"/>',
    "skip": '<circle cx="8" cy="8" r="6.6" stroke-dasharray="2.2 2.4"/><path d="m6.8 5.8 2.4 2.2-2.4 2.2"/>',
    "question": '<circle cx="8" cy="8" r="6.6"/><path d="M6.2 6.4a1.8 1.8 0 1 1 2.5 1.7c-.5.2-.7.5-.7 1M8 11.4v.1"/>',
    "dots": '<circle cx="8" cy="8" r="6.6"/><path d="M5 8h.01M8 8h.01M11 8h.01"/>',
    "warning": '<path d="M8 2 1.5 13.5h13zM8 6.6v3.2M8 11.7v.1"/>',
}
_STROKES = 'fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round"'
# The style sheet does not apply to the favicon: these colours are legible on light and on dark tabs.
_TAB_COLOURS = {"good": "#2a9960", "bad": "#d9483b", "running": "#3b82c9"}


def render(run: Run) -> str:
    """Return the page.

    Raises:
        MissingToolError: Jinja is not installed where this runs.
    """
    page = _template().render(
        run=run,
        scale=timeline.scale(run),
        problems=_problems(run),
        policy=_policy(),
        favicon=_favicon(run.outcome),
        sprite=_sprite(),
        style=STYLE,
        script=SCRIPT,
    )
    return f"{page.strip()}\n"


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.update(_VOCABULARY)
    return environment.from_string(PAGE)


def _problems(run: Run) -> list[tuple[str, Step, Cluster]]:
    """Return the steps that did not end well, the worst first, with the place of each on the page."""
    found = [
        (f"c{row}-{column}", step, cluster)
        for row, cluster in enumerate(run.clusters, start=1)
        for column, step in enumerate(cluster.steps, start=1)
        if step.outcome not in GOOD
    ]
    return sorted(found, key=lambda problem: -SEVERITY.index(problem[1].outcome))


def _link(path: str) -> str:
    """Return a relative URL. A file name that is not UTF-8 keeps its bytes."""
    return quote(path, errors="surrogateescape")


def _with_dates(sentence: str) -> str:
    """Return a sentence of a record with its ISO 8601 times in the format of the page."""
    return _ISO_MOMENT.sub(lambda found: formatting.date(moment(found[0])), sentence)


def _per_cent(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") + "%"


def _tint(phase: str) -> str:
    return "active" if phase == "running" else phase


def _resource_names(cluster: Cluster) -> list[str]:
    """Return the resources that the cluster's steps request: CPU, memory, then devices by name."""
    names = {name for step in cluster.steps for name in step.resources}
    return sorted(names, key=lambda name: (name != "cpu", name != "memory", name))


def _resource_title(name: str) -> str:
    return {"cpu": "CPU", "memory": "Memory"}.get(name) or formatting.device(name)


def _resource_titles(names: list[str]) -> list[tuple[str, bool]]:
    """Return the column headings; True marks a column of numbers, aligned to the right."""
    return [(_resource_title(name), True) for name in names]


def _total_reserved(cluster: Cluster, name: str) -> float:
    return sum(step.resources[name].seconds for step in cluster.steps if name in step.resources)


def _sprite() -> str:
    """Return the icons and the hatching, which the page uses by reference."""
    symbol = '<symbol id="i-{}" viewBox="0 0 16 16" {}>{}</symbol>'
    icons = "".join(symbol.format(name, _STROKES, glyph) for name, glyph in _GLYPHS.items())
    hatch = (
        '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="2" height="6" fill="#fff" fill-opacity=".38"/></pattern>'
    )
    return f'<svg class="defs" aria-hidden="true"><defs>{icons}{hatch}</defs></svg>'


def _favicon(outcome: str) -> str:
    mood = "good" if outcome in GOOD else "running" if outcome == "running" else "bad"
    strokes = _STROKES.replace("currentColor", _TAB_COLOURS[mood])
    namespace = "http" + "://www.w3.org/2000/svg"
    glyph = _GLYPHS[formatting.ICONS[outcome]]
    image = f'<svg xmlns="{namespace}" viewBox="0 0 16 16" {strokes}>{glyph}</svg>'
    return "data:image/svg+xml;base64," + base64.b64encode(image.encode()).decode()


def _policy() -> str:
    """Return the content security policy: it allows no request, and no script but `SCRIPT`."""
    script = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{script}'"


_VOCABULARY: dict[str, t.Any] = {
    "cluster_summary": formatting.cluster_summary,
    "count": formatting.count,
    "date": formatting.date,
    "duration": formatting.duration,
    "elapsed": timeline.elapsed,
    "exit_code": formatting.exit_code,
    "good": GOOD,
    "icons": formatting.ICONS,
    "link": _link,
    "outcomes": formatting.OUTCOMES,
    "per_cent": _per_cent,
    "phase_words": formatting.PHASES,
    "phases_text": formatting.phases_text,
    "printable": clean,
    "progress_text": formatting.progress_text,
    "requested": formatting.requested,
    "requests_text": formatting.requests_text,
    "reserved": formatting.reserved,
    "resource_names": _resource_names,
    "resource_title": _resource_title,
    "resource_titles": _resource_titles,
    "row": timeline.row,
    "summary": formatting.summary,
    "tick_label": formatting.tick_label,
    "ticks": timeline.ticks,
    "tint": _tint,
    "total_reserved": _total_reserved,
    "verbs": formatting.VERBS,
    "with_dates": _with_dates,
}
