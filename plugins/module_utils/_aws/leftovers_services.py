# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Leftovers of a cluster outside of EC2. Source: each service's API reference."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

from ansible_collections.mlops.eks.plugins.module_utils._aws.leftover import Found, Kind, everything
from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import tags_of
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws

Find = Callable[[Aws, str], Iterator[Found]]
# Most load balancers in one request for tags.
_AT_ONCE = 20


def _cluster(aws: Aws, cluster: str) -> Iterator[Found]:
    found = aws.cluster(cluster)
    if found:
        yield Found(cluster, tags_of(found), found["status"], certain=True)


def _tagged(service: str, operation: str, key: str, identifier: str, state: str = "") -> Find:
    """Return the search for resources whose list includes their tags."""

    def find(aws: Aws, _: str) -> Iterator[Found]:
        for entry in everything(aws, service, operation, key):
            yield Found(entry[identifier], tags_of(entry), str(entry.get(state, "")))

    return find


def _balanced(service: str, operation: str, key: str, identifier: str, asked: str) -> Find:
    """Return the search for resources of Elastic Load Balancing, whose tags a second request by `asked` returns."""

    def find(aws: Aws, _: str) -> Iterator[Found]:
        names = [entry[identifier] for entry in everything(aws, service, operation, key)]
        for start in range(0, len(names), _AT_ONCE):
            names_asked: dict[str, t.Any] = {asked: names[start : start + _AT_ONCE]}
            for entry in aws.call(service, "describe_tags", **names_asked)["TagDescriptions"]:
                yield Found(entry.get("ResourceArn") or entry["LoadBalancerName"], tags_of(entry))

    return find


def _by_name(service: str, operation: str, key: str, identifier: str, *names: str, prefix: str = "") -> Find:
    """Return the search for resources that their name identifies; `prefix` is the argument that filters the list."""

    def find(aws: Aws, cluster: str) -> Iterator[Found]:
        for name in (template.format(cluster) for template in names):
            for entry in everything(aws, service, operation, key, **({prefix: name} if prefix else {})):
                if entry[identifier] == name or (prefix and entry[identifier].startswith(name)):
                    yield Found(entry[identifier], {}, certain=True)

    return find


class _Asked(t.NamedTuple):
    """Resources whose tags need one request each: `tags` is the operation, its argument and the entry's field for it.

    Only identifiers that begin with `begins` are requested; `{}` stands for the cluster's name. `prefix` is the
    argument by which the service filters the list itself, if it can.
    """

    service: str
    operation: str
    key: str
    identifier: str
    tags: tuple[str, str, str]
    begins: str = ""
    prefix: str = ""

    def find(self, aws: Aws, cluster: str) -> Iterator[Found]:
        """Yield the resources with their tags."""
        operation, argument, part = self.tags
        begins = self.begins.format(cluster)
        narrowed = {self.prefix: begins} if self.prefix else {}
        for entry in everything(aws, self.service, self.operation, self.key, **narrowed):
            # Queues are listed as plain URLs.
            values = entry if isinstance(entry, dict) else {self.identifier: entry}
            if self.prefix or values[self.identifier].startswith(begins):
                asked = values[part].removesuffix(":*")
                answer = aws.call(self.service, operation, **{argument: asked})
                yield Found(values[self.identifier], tags_of(answer))


def _kind(name: str, service: str, removed: tuple[str, str], find: Find, *, blocking: bool = False) -> Kind:
    operation, argument = removed
    return Kind(name=name, service=service, operation=operation, argument=argument, find=find, blocking=blocking)


_ROLE = _Asked("iam", "list_roles", "Roles", "RoleName", ("list_role_tags", "RoleName", "RoleName"), begins="{}-")
_PROFILE = _Asked(
    "iam",
    "list_instance_profiles",
    "InstanceProfiles",
    "InstanceProfileName",
    ("list_instance_profile_tags", "InstanceProfileName", "InstanceProfileName"),
    begins="{}",
)
_PROVIDER = _Asked(
    "iam",
    "list_open_id_connect_providers",
    "OpenIDConnectProviderList",
    "Arn",
    ("list_open_id_connect_provider_tags", "OpenIDConnectProviderArn", "Arn"),
)
_QUEUE = _Asked(
    "sqs",
    "list_queues",
    "QueueUrls",
    "QueueUrl",
    ("list_queue_tags", "QueueUrl", "QueueUrl"),
    begins="{}-",
    prefix="QueueNamePrefix",
)
_RULE = _Asked(
    "events",
    "list_rules",
    "Rules",
    "Name",
    ("list_tags_for_resource", "ResourceARN", "Arn"),
    begins="{}-",
    prefix="NamePrefix",
)
_REPOSITORY = _Asked(
    "ecr",
    "describe_repositories",
    "repositories",
    "repositoryName",
    ("list_tags_for_resource", "resourceArn", "repositoryArn"),
)
_LOGS_OF_FSX = _Asked(
    "logs",
    "describe_log_groups",
    "logGroups",
    "logGroupName",
    ("list_tags_for_resource", "resourceArn", "arn"),
    begins="/aws/fsx/{}-",
    prefix="logGroupNamePrefix",
)
_LOGS = ("logs", "describe_log_groups", "logGroups", "logGroupName")
_LOG_GROUPS = ("/aws/eks/{}/", "/aws/containerinsights/{}/")

_CLUSTER = (_kind("EKS cluster", "eks", ("delete_cluster", "name"), _cluster),)
_BALANCERS = (
    _kind(
        "load balancer",
        "elbv2",
        ("delete_load_balancer", "LoadBalancerArn"),
        _balanced("elbv2", "describe_load_balancers", "LoadBalancers", "LoadBalancerArn", "ResourceArns"),
        blocking=True,
    ),
    _kind(
        "classic load balancer",
        "elb",
        ("delete_load_balancer", "LoadBalancerName"),
        _balanced(
            "elb", "describe_load_balancers", "LoadBalancerDescriptions", "LoadBalancerName", "LoadBalancerNames"
        ),
        blocking=True,
    ),
    _kind(
        "target group",
        "elbv2",
        ("delete_target_group", "TargetGroupArn"),
        _balanced("elbv2", "describe_target_groups", "TargetGroups", "TargetGroupArn", "ResourceArns"),
    ),
)
# In the order of removal: these before EC2's, the others at any time.
BEFORE_EC2 = (*_CLUSTER, *_BALANCERS)
OTHERS = (
    _kind(
        "EFS file system",
        "efs",
        ("delete_file_system", "FileSystemId"),
        _tagged("efs", "describe_file_systems", "FileSystems", "FileSystemId", "LifeCycleState"),
    ),
    _kind(
        "FSx file system",
        "fsx",
        ("delete_file_system", "FileSystemId"),
        _tagged("fsx", "describe_file_systems", "FileSystems", "FileSystemId", "Lifecycle"),
    ),
    _kind(
        "FSx backup",
        "fsx",
        ("delete_backup", "BackupId"),
        _tagged("fsx", "describe_backups", "Backups", "BackupId", "Lifecycle"),
    ),
    _kind(
        "log group",
        "logs",
        ("delete_log_group", "logGroupName"),
        _by_name(*_LOGS, *_LOG_GROUPS, prefix="logGroupNamePrefix"),
    ),
    _kind("log group", "logs", ("delete_log_group", "logGroupName"), _LOGS_OF_FSX.find),
    _kind("IAM role", "iam", ("delete_role", "RoleName"), _ROLE.find),
    _kind("instance profile", "iam", ("delete_instance_profile", "InstanceProfileName"), _PROFILE.find),
    _kind("OIDC provider", "iam", ("delete_open_id_connect_provider", "OpenIDConnectProviderArn"), _PROVIDER.find),
    _kind("SQS queue", "sqs", ("delete_queue", "QueueUrl"), _QUEUE.find),
    _kind("EventBridge rule", "events", ("delete_rule", "Name"), _RULE.find),
    _kind("ECR repository", "ecr", ("delete_repository", "repositoryName"), _REPOSITORY.find),
    _kind(
        "KMS alias",
        "kms",
        ("delete_alias", "AliasName"),
        _by_name("kms", "list_aliases", "Aliases", "AliasName", "alias/eks/{}"),
    ),
)
