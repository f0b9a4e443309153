# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The one error of these programs and how it reaches the user: one line on stderr, exit code 1."""

from __future__ import annotations

import sys
from collections.abc import Callable


class DigitsError(Exception):
    """Something the user can act on; the message says what was found and what to do."""


def run(main: Callable[[], None]) -> None:
    """Run a program's `main`; turn a `DigitsError` into one line and exit code 1."""
    try:
        main()
    except DigitsError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
