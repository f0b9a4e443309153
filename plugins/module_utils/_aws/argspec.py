# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The arguments that every module which asks AWS takes; their documentation is the fragment `_aws`."""

from __future__ import annotations

import typing as t

AWS: dict[str, t.Any] = {"region": {"type": "str", "required": True}, "profile": {"type": "str"}}
