# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The keys of `pipeline.yaml` and their types."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import MOST, STEP_LIMITS
from ansible_collections.mlops.eks.plugins.module_utils._core.names import (
    NAMESPACE,
    PIPELINE,
    STEP,
    WORKLOAD,
    Rule,
    or_none,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._recipe.progress import progress_pattern
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source

Path = tuple[str | int, ...]


class Key(t.NamedTuple):
    """Type of a key, its description for messages, and the rule of a name."""

    kind: type | tuple[type, ...]
    expected: str
    required: bool = False
    rule: Rule | None = None


# Categories of causes (`_diagnose/reasons.py`) after which a step may be retried, and `any` for all of them.
RETRY_ON = ("evicted", "node_lost", "preempted", "image_pull", "any")

PIPELINE_KEYS = {
    "name": Key(str, "a string", required=True, rule=PIPELINE),
    "description": Key(str, "a string"),
    "namespace": Key(str, "a string", rule=or_none(NAMESPACE)),
    "secrets": Key(list, "a list of Secrets"),
    "steps": Key(list, "a list of steps", required=True),
}
STEP_KEYS = {
    "name": Key(str, "a string", required=True, rule=STEP),
    "chart": Key(str, "a string", required=True),
    "repo": Key(str, "an address"),
    "version": Key(str, "a version, in quotes where it would be a number"),
    "digest": Key(str, "sha256: and 64 hexadecimal digits"),
    "recipe": Key(str, "a file name"),
    "recipes": Key(list, "a list of file names"),
    "values": Key(dict, "a mapping"),
    "keep": Key(bool, "true or false"),
    "progress": Key(str, "a pattern with a group (?P<done>…)"),
    "workload": Key(str, "Kind or Kind/name, such as Deployment", rule=or_none(WORKLOAD)),
    "until": Key(str, "condition=TYPE or jsonpath={PATH}=VALUE"),
    # With the names of the options of `helm_step`.
    **{name: Key(int, f"a whole number from 0 to {MOST}") for name in STEP_LIMITS},
    "retry_on": Key(list, f"a list of {', '.join(RETRY_ON)}"),
    "fail_on": Key((str, list), "condition=TYPE or jsonpath={PATH}=VALUE, or a list of them"),
}


def check_keys(source: Source, data: dict[str, t.Any], path: Path, keys: dict[str, Key]) -> None:
    """Check for unknown keys, missing keys, and values of a wrong type.

    Raises:
        InvalidInputError: with file, line and key of the mistake.
    """
    for key, value in data.items():
        rule = keys.get(key)
        if rule is None:
            raise InvalidInputError(
                f"{source.at((*path, key))}: unknown key {shown(key)}.{did_you_mean(str(key), keys)}"
            )
        if not (_counts(value) if rule.kind is int else isinstance(value, rule.kind)):
            raise InvalidInputError(
                f"{source.at((*path, key))}: {key}: expected {rule.expected}, found {shown(value)}."
            )
        if rule.rule:
            with source.errors_at((*path, key)):
                rule.rule.check(key, value)
    missing = [key for key, rule in keys.items() if rule.required and key not in data]
    if missing:
        raise InvalidInputError(f"{source.at(path)}: missing {', '.join(map(repr, missing))}.")


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def check_patterns(source: Source, data: dict[str, t.Any], path: Path) -> None:
    """Check the pattern of `progress` and the categories of `retry_on`.

    Raises:
        InvalidInputError: with file, line and key of the mistake.
    """
    for index, word in enumerate(data.get("retry_on", ())):
        if word not in RETRY_ON:
            message = f"retry_on: {shown(word)} is none of {', '.join(RETRY_ON)}.{did_you_mean(str(word), RETRY_ON)}"
            raise InvalidInputError(f"{source.at((*path, 'retry_on', index))}: {message}")
    if "progress" in data:
        with source.errors_at((*path, "progress")):
            progress_pattern(data["progress"])
