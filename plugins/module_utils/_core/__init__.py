# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What all other packages use. It is imported before anything else here, so a Python that is too old is told so."""

from __future__ import annotations

import json
import sys


def _demand(oldest: tuple[int, int]) -> None:
    """End the program when it runs on a Python older than `oldest`, in words that such a Python can still read."""
    if sys.version_info[:2] >= oldest:
        return
    wanted, found = ".".join(map(str, oldest)), sys.version.split()[0]
    said = f"mlops.eks needs Python {wanted} or newer; {sys.executable} is {found}. Set ansible_python_interpreter."
    if "ansible.plugins" in sys.modules:
        raise ImportError(said)
    # A module answers in JSON; an exception would be a traceback.
    print(json.dumps({"failed": True, "msg": said}))
    sys.exit(1)


_demand((3, 11))
