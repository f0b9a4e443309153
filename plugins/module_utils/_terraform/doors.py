# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Terraform as its module and action plug-in call it: parameters in, a task result out."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._core.mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.names import checked
from ansible_collections.mlops.eks.plugins.module_utils._terraform.stack import Request, ensure

_PATHS = ("source", "data_dir", "outputs_file")
_MAPPINGS = ("variables", "env")


@checked("terraform_stack")
def terraform_stack(
    params: Mapping[str, t.Any], *, cluster: str, check: bool, diff: bool, say: Callable[[str], None]
) -> dict[str, t.Any]:
    """Bring one stack to the state wanted; what is in `redact`, or sensitive, is neither printed nor returned."""
    mask = Mask(params["redact"] or ())
    given = {key: value for key, value in params.items() if key != "redact"}
    given |= {key: _path(params[key]) for key in _PATHS} | {key: params[key] or {} for key in _MAPPINGS}
    try:
        request = Request(name=cluster, check=check, diff=diff, **given)
        found = ensure(request, lambda line: say(mask.text(line)), mask)
    except EksError as error:
        error.args = (mask.text(str(error)),)
        error.details = mask.document(error.details)
        raise
    return mask.document(found)


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser().resolve() if text else None
