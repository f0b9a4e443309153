# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The EKS clusters that several identities see in several regions."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.mlops.eks.plugins.module_utils._aws.failures import Refused, failure_code
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError, MissingToolError

try:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError, ProfileNotFound
except ImportError:
    HAS_BOTO3 = False
else:
    HAS_BOTO3 = True

Cluster = dict[str, t.Any]
# Places asked at once, and clusters described at once in each.
_PLACES, _DESCRIBED = 16, 8


class Place(t.NamedTuple):
    """Where to look: a profile (`None`: the default credentials) and a region (`""`: the profile's own)."""

    profile: str | None
    region: str


class Found(t.NamedTuple):
    """The clusters, in the order of places and names, and the places that could not be asked."""

    clusters: list[Cluster]
    refused: list[Refused]


def find_clusters(places: Sequence[Place]) -> Found:
    """Ask all places at once.

    Each cluster is plain data: cluster_name, region, aws_profile, aws_account_id, cluster_arn, cluster_endpoint,
    cluster_version, cluster_platform_version, cluster_status, cluster_tags, cluster_vpc_id, cluster_auto_mode and
    cluster_certificate_authority (base64). Source: Amazon EKS API reference, DescribeCluster.
    """
    if not HAS_BOTO3:
        raise MissingToolError("the Python library boto3 is not installed: pip install boto3")
    with ThreadPoolExecutor(_PLACES) as pool:
        answers = list(pool.map(_look, places))
    found = Found([], [])
    for answer in answers:
        if isinstance(answer, Refused):
            found.refused.append(answer)
        else:
            found.clusters.extend(answer)
    return found


def has_tags(cluster: Cluster, wanted: Mapping[str, t.Any]) -> bool:
    """Return whether a cluster has every tag wanted; of a list one value is enough."""
    tags = cluster["cluster_tags"]
    return all(
        key in tags and tags[key] in [str(one) for one in (value if isinstance(value, list) else [value])]
        for key, value in wanted.items()
    )


def _look(place: Place) -> list[Cluster] | Refused:
    region = place.region
    try:
        session = boto3.Session(profile_name=place.profile)
        region = place.region or session.region_name or ""
        if not region:
            who = f"profile {place.profile}" if place.profile else "the environment"
            raise InvalidInputError(f"regions: none is given, and {who} has none of its own")
        retries = {"mode": "adaptive", "max_attempts": 5}
        client = session.client("eks", region_name=region, config=Config(retries=retries, connect_timeout=10))
        names = [name for page in client.get_paginator("list_clusters").paginate() for name in page["clusters"]]
        with ThreadPoolExecutor(_DESCRIBED) as pool:
            described = pool.map(lambda name: _describe(client, name), sorted(names))
            return [_plain(cluster, place.profile, region) for cluster in described if cluster]
    except ProfileNotFound as error:
        raise InvalidInputError(f"profiles: {error}") from error
    except (BotoCoreError, ClientError) as error:
        return Refused(place.profile, region, error)


def _describe(client: t.Any, name: str) -> dict[str, t.Any] | None:
    try:
        cluster: dict[str, t.Any] = client.describe_cluster(name=name)["cluster"]
    except ClientError as error:
        # Deleted since it was listed.
        if failure_code(error) == "ResourceNotFoundException":
            return None
        raise
    return cluster


def _plain(cluster: Mapping[str, t.Any], profile: str | None, region: str) -> Cluster:
    """Return what later tasks ask for; absent parts of a cluster that is still being made are empty."""
    arn = cluster.get("arn") or ""
    return {
        "cluster_name": cluster["name"],
        "region": region,
        "aws_profile": profile,
        "aws_account_id": arn.split(":")[4] if arn.count(":") >= 5 else "",
        "cluster_arn": arn,
        "cluster_endpoint": cluster.get("endpoint") or "",
        "cluster_version": cluster.get("version") or "",
        "cluster_platform_version": cluster.get("platformVersion") or "",
        "cluster_status": cluster.get("status") or "",
        "cluster_tags": cluster.get("tags") or {},
        "cluster_vpc_id": (cluster.get("resourcesVpcConfig") or {}).get("vpcId") or "",
        "cluster_auto_mode": bool((cluster.get("computeConfig") or {}).get("enabled")),
        "cluster_certificate_authority": (cluster.get("certificateAuthority") or {}).get("data") or "",
    }
