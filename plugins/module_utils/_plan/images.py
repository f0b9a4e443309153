# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Refuse a workload with a container that has no image.

Charts render with a blank image, as recipes are shipped before their image is built. Only what is installed needs one.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import Chart
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers, Values


def require_images(workload: Document, layered: Callable[[], Layers], chart: Chart) -> None:
    """Check that no `image` in the workload is blank; one that is absent is the API server's to judge.

    `layered` reads the values again; only the message needs them.

    Raises:
        InvalidInputError: file and line of the recipe's `image`, and the container.
    """
    for container in _without_image(workload.get("spec"), "spec"):
        name = f"{workload['kind']}/{workload['metadata']['name']}"
        raise _refusal(f"container {container} of {name} has no image", layered(), chart)


def require_image_value(values: Values, layered: Layers, chart: Chart) -> None:
    """Check `image` for a chart of the catalogue, which is rendered only when the steps before it ended.

    `values` are those of the recipe over those of the chart.

    Raises:
        InvalidInputError: file and line of the recipe's `image`.
    """
    image = values.get("image")
    # Fields of the container or pod may name it as well.
    given = [image.get("name") if isinstance(image, dict) else image, values.get("container"), values.get("pod")]
    needed = chart.takes_run and not chart.image_optional and "image" in chart.defaults
    if needed and not any(given):
        raise _refusal("it is blank", layered, chart)


def _refusal(problem: str, layered: Layers, chart: Chart) -> InvalidInputError:
    path = ("image", "name") if isinstance(chart.defaults.get("image"), dict) else ("image",)
    return InvalidInputError(
        f"{layered.at(path)}: {'.'.join(path)}: {problem}. Name one with its tag in the recipe, or in a layer over it. "
        f"[chart {chart.ref}]"
    )


def _without_image(node: t.Any, name: str) -> Iterator[str]:
    """Yield the names of the mappings whose `image` is blank; those without a name are called by their key."""
    if isinstance(node, dict):
        if "image" in node and node["image"] in (None, ""):
            yield str(node.get("name", name))
        for key, value in node.items():
            if key != "metadata":
                yield from _without_image(value, key)
    elif isinstance(node, list):
        for item in node:
            yield from _without_image(item, name)
