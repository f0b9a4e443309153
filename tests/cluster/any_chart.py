# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A foreign chart, which renders the objects in its values."""

from __future__ import annotations

import json
from pathlib import Path

from samples import Json

_TEMPLATE = "{{- range .Values.objects }}\n---\n{{ toJson . }}\n{{- end }}\n"


def write(directory: Path, objects: list[Json]) -> tuple[Path, Json]:
    """Write the chart to `directory`; return it and the values that make it render `objects`."""
    (directory / "templates").mkdir(parents=True)
    metadata = {"apiVersion": "v2", "name": directory.name, "version": "1.0.0"}
    (directory / "Chart.yaml").write_text(json.dumps(metadata), encoding="utf-8")
    (directory / "templates" / "objects.yaml").write_text(_TEMPLATE, encoding="utf-8")
    return directory, {"objects": objects}
