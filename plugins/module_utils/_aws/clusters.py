# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Find the EKS clusters of several profiles and regions."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws, own_region
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, InvalidInputError

Cluster = dict[str, t.Any]
# Places requested in parallel, and clusters described in parallel in each.
_PLACES, _DESCRIBED = 16, 8
# Error codes of a region that is not enabled for the account, and for unknown keys.
_UNKNOWN = {"UnrecognizedClientException", "InvalidClientTokenId", "AuthFailure"}


class Place(t.NamedTuple):
    """A profile (`None`: the default credentials) and a region (`""`: the profile's own) to search."""

    profile: str | None
    region: str


class Refused(t.NamedTuple):
    """A place that could not be searched, and the reason."""

    place: Place
    error: AwsError

    def sentence(self) -> str:
        """Return one line: profile, region, what is wrong and what to do."""
        who = f"profile {self.place.profile}" if self.place.profile else "default credentials"
        unknown = self.error.details.get("code") in _UNKNOWN
        more = " Or the region is not enabled for this account: leave it out, or enable it." if unknown else ""
        return f"{who}, {self.place.region or 'no region'}: {self.error}{more}"


class Found(t.NamedTuple):
    """The clusters, in the order of places and names, and the places that could not be searched."""

    clusters: list[Cluster]
    refused: list[Refused]


def find_clusters(places: Sequence[Place]) -> Found:
    """Search all places in parallel.

    Each cluster is plain data: cluster_name, region, aws_profile, aws_account_id, cluster_arn, cluster_endpoint,
    cluster_version, cluster_platform_version, cluster_status, cluster_tags, cluster_vpc_id, cluster_auto_mode and
    cluster_certificate_authority (base64). Source: Amazon EKS API reference, DescribeCluster.
    """
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
    """Return whether a cluster has every wanted tag. A list of values matches if one of them does."""
    tags = cluster["cluster_tags"]
    return all(
        key in tags and tags[key] in [str(one) for one in (value if isinstance(value, list) else [value])]
        for key, value in wanted.items()
    )


def _look(place: Place) -> list[Cluster] | Refused:
    try:
        region = place.region or own_region(place.profile)
        if not region:
            who = f"profile {place.profile}" if place.profile else "the environment"
            raise InvalidInputError(f"regions: none is given, and {who} has none of its own")
        aws = Aws(region=region, profile=place.profile)
        names = sorted(aws.pages("eks", "list_clusters", "clusters"))
        with ThreadPoolExecutor(_DESCRIBED) as pool:
            # Skip a cluster that was deleted after it was listed.
            described = pool.map(aws.cluster, names)
            return [_plain(cluster, place.profile, region) for cluster in described if cluster]
    except AwsError as error:
        return Refused(place, error)


def _plain(cluster: Mapping[str, t.Any], profile: str | None, region: str) -> Cluster:
    """Return the fields that later tasks use. Fields that a cluster does not have yet are empty."""
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
