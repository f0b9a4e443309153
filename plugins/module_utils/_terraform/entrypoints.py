# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The entry point for the module and action plug-in: parameters in, a task result out."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core import limits
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import redacted, secrets_in
from ansible_collections.mlops.eks.plugins.module_utils._terraform.stack import Request, ensure

_PATHS = ("source", "data_dir", "outputs_file")
_MAPPINGS = ("variables", "env")
_LIMITS = ("timeout", "lock_timeout", "heartbeat")


@redacted
@checked("terraform_stack")
def terraform_stack(
    params: Mapping[str, t.Any], *, cluster: str, check: bool, diff: bool, say: Callable[[str], None], mask: Mask
) -> dict[str, t.Any]:
    """Bring one stack to the wanted state. Values in `redact` and sensitive values are neither printed nor returned."""
    given = {key: value for key, value in params.items() if key != "redact"}
    given |= {key: limits.unlimited(params[key]) for key in _LIMITS}
    given |= {key: _path(params[key]) for key in _PATHS} | {key: params[key] or {} for key in _MAPPINGS}
    for settings in (given["env"], given["backend"] or {}):
        mask.add(secrets_in(settings))
    return ensure(Request(name=cluster, check=check, diff=diff, **given), say, mask)


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser().resolve() if text else None
