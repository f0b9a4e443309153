# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The pattern that finds in a program's log how far it is."""

from __future__ import annotations

import re

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

_EXAMPLE = r"progress: 'step (?P<done>\d+)/(?P<total>\d+)'"


def progress_pattern(text: str) -> re.Pattern[str]:
    """Return the compiled pattern. Its group `done`, and `total` if it has one, are numbers.

    Raises:
        InvalidInputError: it is no regular expression, or has no group `done`.
    """
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise InvalidInputError(
            f"progress: '{text}' is not a regular expression: {error}. Example: {_EXAMPLE}."
        ) from error
    if "done" not in pattern.groupindex:
        raise InvalidInputError(f"progress: '{text}' has no group (?P<done>…). Example: {_EXAMPLE}.")
    return pattern
