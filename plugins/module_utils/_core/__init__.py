# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Base of all other packages. Importing it checks the Python version first, and fails with a clear message."""

from __future__ import annotations

import json
import sys


def _require(oldest: tuple[int, int]) -> None:
    """End the program on a Python older than `oldest`; this file must be valid syntax there."""
    if sys.version_info[:2] >= oldest:
        return
    wanted, found = ".".join(map(str, oldest)), sys.version.split()[0]
    message = f"mlops.eks needs Python {wanted} or newer; {sys.executable} is {found}. Set ansible_python_interpreter."
    if "ansible.plugins" in sys.modules:
        raise ImportError(message)
    # A module must print JSON; an exception would print a traceback.
    print(json.dumps({"failed": True, "msg": message}))
    sys.exit(1)


_require((3, 11))
