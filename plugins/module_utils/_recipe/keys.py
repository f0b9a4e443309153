# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The keys of `pipeline.yaml`: which there are, and what each may hold."""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
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
    """What a key may hold, in types and in words; whole numbers are at least `least`, names obey `rule`."""

    kind: type | tuple[type, ...]
    said: str
    required: bool = False
    least: int = 0
    rule: Rule | None = None


# What `helm_step` tolerates before it fails a step; each may be set per step under its own name.
LIMITS = (
    "retries",
    "retry_backoff",
    "leftover_grace",
    "no_output_timeout",
    "pending_timeout",
    "ready_timeout",
    "image_pull_grace",
    "config_grace",
    "unschedulable_grace",
    "lost_rank_grace",
    "max_restarts",
)
# Categories of causes (`_step/reasons.py`) after which a step may be tried again, and the word for all of them.
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
    "timeout": Key(int, "a whole number of seconds, more than 0", least=1),
    "keep": Key(bool, "true or false"),
    "progress": Key(str, "a pattern with a group (?P<done>…)"),
    "workload": Key(str, "Kind or Kind/name, such as Deployment", rule=or_none(WORKLOAD)),
    "until": Key(str, "condition=TYPE or jsonpath={PATH}=VALUE"),
    **{name: Key(int, "a whole number, 0 or more") for name in LIMITS},
    "retry_on": Key(list, f"a list of {', '.join(RETRY_ON)}"),
    "fail_on": Key((str, list), "condition=TYPE or jsonpath={PATH}=VALUE, or a list of them"),
}


def check_keys(source: Source, data: dict[str, t.Any], path: Path, keys: dict[str, Key]) -> None:
    """Refuse keys that are not known, are missing, or hold something else.

    Raises:
        InvalidInputError: with file, line and key of the mistake.
    """
    for key, value in data.items():
        rule = keys.get(key)
        if rule is None:
            raise InvalidInputError(
                f"{source.at((*path, key))}: unknown key {shown(key)}.{did_you_mean(str(key), keys)}"
            )
        wrong_int = rule.kind is int and (isinstance(value, bool) or (isinstance(value, int) and value < rule.least))
        if not isinstance(value, rule.kind) or wrong_int:
            raise InvalidInputError(f"{source.at((*path, key))}: {key}: expected {rule.said}, found {shown(value)}.")
        if rule.rule:
            with source.blamed((*path, key)):
                rule.rule.check(key, value)
    missing = [key for key, rule in keys.items() if rule.required and key not in data]
    if missing:
        raise InvalidInputError(f"{source.at(path)}: missing {', '.join(map(repr, missing))}.")


def check_words(source: Source, data: dict[str, t.Any], path: Path) -> None:
    """Refuse a pattern for progress that finds none, and categories that nothing is retried on.

    Raises:
        InvalidInputError: with file, line and key of the mistake.
    """
    for index, word in enumerate(data.get("retry_on", ())):
        if word not in RETRY_ON:
            said = f"retry_on: {shown(word)} is none of {', '.join(RETRY_ON)}.{did_you_mean(str(word), RETRY_ON)}"
            raise InvalidInputError(f"{source.at((*path, 'retry_on', index))}: {said}")
    if "progress" in data:
        with source.blamed((*path, "progress")):
            progress_pattern(data["progress"])
