"""Programs of tools/ for tests, built at first use."""

from __future__ import annotations

import functools

from ansible_collections.mlops.eks.plugins.module_utils._core.cache import cache_dir
from ansible_collections.mlops.eks.plugins.module_utils._local.go_build import GoBuilder


@functools.cache
def go_program(name: str) -> str:
    """Return the program of the tool `name`, built into the cache that is current at the first call."""
    builder = GoBuilder(cache=cache_dir(), tools_dir=None, say=lambda line: None)
    builder.build([name])
    return builder.programs([name])[name]
