# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Charts asked for as a step asks for them."""

from __future__ import annotations

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._charts.find import find
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart


def get(chart: str, **more: str) -> Chart:
    """Return the chart that a step means."""
    return find(Reference(chart=chart, **more))


def refusal(chart: str, **more: str) -> str:
    """Return `key: message`: what of the step is wrong, and why its chart cannot be had."""
    with pytest.raises(SourceError) as caught:
        get(chart, **more)
    assert "\n" not in str(caught.value)
    return f"{caught.value.key}: {caught.value}"


def says(chart: Chart) -> str:
    """Return what a chart of the tests says; it tells one package of a version from another."""
    return str(chart.defaults["says"])


def note(chart: Chart) -> str:
    """Return what the user is told about how the chart was got."""
    return chart.origin.note if chart.origin else ""
