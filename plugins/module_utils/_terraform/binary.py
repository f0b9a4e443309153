# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Find the program, `terraform` or `tofu`, and build its environment."""

from __future__ import annotations

import os
import re
import shutil
import typing as t
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.cache import cache_dir
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.process import ask

# The first version whose S3 backend has its own lock (`use_lockfile`); the same number for both programs.
_OLDEST = (1, 10)
# Variables of the user's shell that would change what a command does or writes.
_UNWANTED = ("TF_CLI_ARGS", "TF_CLI_ARGS_plan", "TF_CLI_ARGS_apply", "TF_CLI_ARGS_show", "TF_CLI_ARGS_output")


class Binary(t.NamedTuple):
    """A program: its path, its version such as `1.11.4`, and its kind, `Terraform` or `OpenTofu`."""

    path: str
    version: str
    brand: str


def find_binary(given: str | None, env: Mapping[str, str]) -> Binary:
    """Return the program given by name or path, else MLOPS_EKS_TERRAFORM, else the first of terraform and tofu on PATH.

    Raises:
        MissingToolError: no program is found, it is neither of the two, or it is too old.
    """
    wanted = given or os.environ.get("MLOPS_EKS_TERRAFORM")
    candidates = (wanted,) if wanted else ("terraform", "tofu")
    found = next((path for name in candidates if (path := shutil.which(Path(name).expanduser()))), None)
    if found is None:
        raise MissingToolError(
            f"{' or '.join(candidates)}: not found on PATH. Install Terraform or OpenTofu {_text(_OLDEST)} or newer."
        )
    # The output of -json does not name the program. Warnings come first.
    output = ask([found, "version"], cwd=Path.cwd(), env=env)
    match = re.search(r"^(Terraform|OpenTofu) v((\d+)\.(\d+)\S*)", output, re.MULTILINE)
    if match is None:
        raise MissingToolError(f"{found} is neither Terraform nor OpenTofu: it calls itself {output[:60].strip()!r}.")
    if (int(match[3]), int(match[4])) < _OLDEST:
        raise MissingToolError(f"{found} is version {match[2]}; {_text(_OLDEST)} or newer is needed.")
    return Binary(str(Path(found).absolute()), match[2], match[1])


def environment(data: Path, given: Mapping[str, t.Any]) -> dict[str, str]:
    """Return the environment for the directory `data`: this process's, overridden by `given`, without prompts."""
    own = {key: value for key, value in os.environ.items() if key not in {*_UNWANTED, "TF_WORKSPACE"}}
    plugins = cache_dir() / "terraform"
    return {
        "TF_PLUGIN_CACHE_DIR": str(plugins),
        **own,
        **{key: str(value) for key, value in given.items()},
        "TF_DATA_DIR": str(data / ".terraform"),
        "TF_IN_AUTOMATION": "1",
        "TF_INPUT": "0",
        "CHECKPOINT_DISABLE": "1",
    }


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
