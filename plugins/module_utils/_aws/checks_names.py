# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Names that must be unique: each is free, or belongs to this stack from an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._aws.facts import Context
from ansible_collections.mlops.eks.plugins.module_utils._aws.finding import Finding, fail, ok
from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import tags_of
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import TAG, Stack
from ansible_collections.mlops.eks.plugins.module_utils._core.text import listed

Tags = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Names:
    """Resources of one `kind` (plural): `of` returns their names in a stack, `find` the tags of an existing one."""

    kind: str
    of: Callable[[Stack], list[str]]
    find: Callable[[Context, str], Tags | None]


def _cluster(context: Context, name: str) -> Tags | None:
    found = context.facts.cluster(name)
    return None if found is None else tags_of(found)


def _role(context: Context, name: str) -> Tags | None:
    found = context.aws.find("NoSuchEntity", "iam", "get_role", RoleName=name)
    return None if found is None else tags_of(found["Role"])


def _file_system(context: Context, name: str) -> Tags | None:
    found = context.aws.call("efs", "describe_file_systems", CreationToken=name)["FileSystems"]
    return tags_of(found[0]) if found else None


def _repository(context: Context, name: str) -> Tags | None:
    absent = "RepositoryNotFoundException"
    found = context.aws.find(absent, "ecr", "describe_repositories", repositoryNames=[name])
    if found is None:
        return None
    arn = found["repositories"][0]["repositoryArn"]
    reply = context.aws.find(absent, "ecr", "list_tags_for_resource", resourceArn=arn)
    return None if reply is None else tags_of(reply)


def _log_group(context: Context, name: str) -> Tags | None:
    found = context.aws.pages("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    group = next((entry for entry in found if entry["logGroupName"] == name), None)
    if group is None:
        return None
    arn = group["arn"].removesuffix(":*")
    return tags_of(context.aws.call("logs", "list_tags_for_resource", resourceArn=arn))


def _placement_group(context: Context, name: str) -> Tags | None:
    asked = [{"Name": "group-name", "Values": [name]}]
    found = context.aws.call("ec2", "describe_placement_groups", Filters=asked)["PlacementGroups"]
    return tags_of(found[0]) if found else None


def _roles(stack: Stack) -> list[str]:
    drivers = {"ebs": not stack.auto_mode, "efs": stack.efs, "fsx": bool(stack.lustre)}
    wanted = ["cluster", "node", *(f"aws-{driver}-csi-driver" for driver, there in drivers.items() if there)]
    if stack.karpenter:
        wanted += ["karpenter", "karpenter-node"]
    return [f"{stack.name}-{name}" for name in (*wanted, *stack.buckets)]


def _placement_groups(stack: Stack) -> list[str]:
    return [f"{stack.name}-{group.name}" for group in stack.groups if group.placement_group]


# Resources of `terraform/modules` whose names must be unique. Names of security groups, queues, … need not be.
NAMES = (
    Names(kind="clusters", of=lambda stack: [stack.name], find=_cluster),
    Names(kind="IAM roles", of=_roles, find=_role),
    Names(kind="EFS file systems", of=lambda stack: [stack.name] if stack.efs else [], find=_file_system),
    Names(kind="ECR repositories", of=lambda stack: list(stack.repositories), find=_repository),
    Names(
        kind="log groups",
        of=lambda stack: [f"/aws/eks/{stack.name}/cluster"] if stack.logs else [],
        find=_log_group,
    ),
    Names(kind="placement groups", of=_placement_groups, find=_placement_group),
)


def taken(context: Context, names: Names) -> Iterator[Finding]:
    """Check that the names of one kind are free or belong to this stack."""
    wanted = names.of(context.stack)
    if not wanted:
        return
    found = {name: names.find(context, name) for name in wanted}
    there = {name: entry for name, entry in found.items() if entry is not None}
    foreign = [name for name, entry in there.items() if entry.get(TAG) != context.stack.name]
    title = f"names of {names.kind}"
    if foreign:
        conflict = f"{', '.join(foreign)}: there already, without the tag {TAG}={context.stack.name}"
        yield fail(title, conflict, "Choose another name for the cluster, or remove what is in the way.")
    elif there:
        yield ok(title, f"{listed(there)}: there already, and this stack's")
    else:
        yield ok(title, f"{listed(wanted)}: free")
