# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The cluster to check, and the other clusters of the play in the same account and region."""

from __future__ import annotations

import contextlib
import functools
import typing as t
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context, Facts
from ansible_collections.mlops.eks.plugins.module_utils._aws.node_needs import StepNeeds, step_needs
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import Stack, read
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, InvalidInputError


class _Cluster(t.NamedTuple):
    """A planned cluster, and the steps that will run on it."""

    stack: Stack
    steps: tuple[StepNeeds, ...]

    def types(self) -> set[str]:
        groups = {kind for group in self.stack.groups for kind in group.types}
        return groups | {pods.node_type for step in self.steps for pods in step.pods}


def read_context(params: Mapping[str, t.Any]) -> Context:
    """Return the context that the module's parameters describe. AWS is asked for accounts only where profiles differ.

    Raises:
        InvalidInputError: variables or a pipeline are invalid.
    """
    mine = _read(params)
    given = params["variables"].get("region")
    if given and given != params["region"]:
        raise InvalidInputError(f"variables.region is {given}, region is {params['region']}. Make them the same.")
    aws = Aws(region=params["region"], profile=params["profile"])
    others = {other.stack.name: other for other in _others(params) if other.stack.name != mine.stack.name}
    facts = Facts(aws, {kind for cluster in (mine, *others.values()) for kind in cluster.types()})
    context = functools.partial(Context, aws=aws, now=datetime.now(UTC), facts=facts)
    return context(**mine._asdict(), others=tuple(context(**other._asdict()) for other in others.values()))


def _read(params: Mapping[str, t.Any]) -> _Cluster:
    steps = (step for pipeline in params["pipelines"] or () for step in step_needs(pipeline))
    return _Cluster(read(params["variables"]), tuple(steps))


def _others(params: Mapping[str, t.Any]) -> Iterator[_Cluster]:
    """Yield the clusters of the same account and region. Skip invalid ones: their own check refuses them."""
    region, mine = params["region"], params["profile"]
    account = functools.cache(lambda profile: Aws(region=region, profile=profile).identity()["Account"])
    for other in params["others"]:
        theirs = other["profile"] or None
        with contextlib.suppress(AwsError, InvalidInputError):
            if other["region"] == region and (theirs == mine or account(theirs) == account(mine)):
                yield _read(other)
