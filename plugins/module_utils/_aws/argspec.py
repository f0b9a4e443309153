# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The arguments of every module that calls AWS. The documentation fragment `_aws` describes them."""

from __future__ import annotations

import typing as t

AWS: dict[str, t.Any] = {"region": {"type": "str", "required": True}, "profile": {"type": "str"}}
