"""Make `ansible_collections.mlops.eks` importable from a plain checkout, writing nothing to disk."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def _importable(name: str, *path: Path) -> None:
    """Make `name` importable unless something else already did."""
    try:
        importlib.import_module(name)
    except ImportError:
        package = types.ModuleType(name)
        package.__path__ = [str(part) for part in path]
        sys.modules[name] = package
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, package)


_importable("ansible_collections")
_importable("ansible_collections.mlops")
_importable("ansible_collections.mlops.eks", ROOT)
