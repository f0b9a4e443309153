# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The chart of a step of a pipeline, and what only the chart can say of the step."""

from __future__ import annotations

from ansible_collections.mlops.eks.plugins.module_utils._charts.find import find
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import Step


def chart_of(step: Step) -> Chart:
    """Return the chart the step asks for; errors as `find`."""
    return find(Reference(chart=step.chart, repo=step.repo, version=step.version, digest=step.digest))


def stays(step: Step, chart: Chart) -> bool:
    """Return whether the step stays installed: as the pipeline says, else as its chart does."""
    return chart.serves if step.keep is None else step.keep
