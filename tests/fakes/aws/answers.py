"""Answers of AWS that moto lacks. Each shape follows the API reference of its service, by operation."""

from __future__ import annotations

import json
import typing as t
from datetime import UTC, datetime, timedelta

from fakes.aws.documents import Document, ServiceError

# Quotas of a grown account, by code; of all others AWS's default is asked.
QUOTAS = {"L-F678F1CE": 5.0, "L-0263D0A3": 5.0, "L-1194D53C": 100.0, "L-417A185B": 768.0, "L-1216C47A": 640.0}
DEFAULT_QUOTA = 100_000.0


def quota(asked: Document) -> Document:
    """GetServiceQuota."""
    if asked["QuotaCode"] not in QUOTAS:
        raise ServiceError("NoSuchResourceException", "The specified resource does not exist.")
    return {"Quota": {**asked, "QuotaName": asked["QuotaCode"], "Value": QUOTAS[asked["QuotaCode"]]}}


def default_quota(asked: Document) -> Document:
    """GetAWSDefaultServiceQuota."""
    return {"Quota": {**asked, "QuotaName": asked["QuotaCode"], "Value": DEFAULT_QUOTA}}


def product(usage: str, price: float, **attributes: str) -> str:
    """One entry of GetProducts' PriceList: JSON as a text."""
    dimension = {"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "pricePerUnit": {"USD": f"{price:.10f}"}}
    return json.dumps(
        {
            "product": {"productFamily": "Compute", "attributes": {"usagetype": usage, **attributes}, "sku": "ABC"},
            "terms": {"OnDemand": {"ABC.JRTCKXETXF": {"priceDimensions": {"ABC.JRTCKXETXF.6YS6EN2CT7": dimension}}}},
            "publicationDate": "2026-11-20T00:00:00Z",
        }
    )


PRICES = {
    "operation=CreateOperation": product("USW2-AmazonEKS-Hours:perCluster", 0.1),
    "operation=ExtendedSupport": product("USW2-AmazonEKS-Hours:extendedSupport", 0.5),
    "group=NGW:NatGateway": product("USW2-NatGateway-Hours", 0.045),
    "productFamily=VpcEndpoint": product("USW2-VpcEndpoint-Hours", 0.01),
    "volumeApiName=gp3": product("USW2-EBS:VolumeUsage.gp3", 0.08),
    "storageClass=General Purpose": product("USW2-TimedStorage-ByteHrs", 0.3),
    "instanceType=m7i.xlarge": product("USW2-BoxUsage:m7i.xlarge", 0.2016),
    "instanceType=p5.48xlarge": product("USW2-BoxUsage:p5.48xlarge", 55.04),
}


def products(asked: Document) -> Document:
    """GetProducts."""
    filters = {f"{entry['Field']}={entry['Value']}" for entry in asked["Filters"]}
    return {"FormatVersion": "aws_v1", "PriceList": [text for wanted, text in PRICES.items() if wanted in filters]}


def versions(now: datetime) -> Document:
    """DescribeClusterVersions, with ends of support that are as far away as the tests need them."""
    ends = {"1.32": -240, "1.33": -110, "1.34": 11, "1.35": 126, "1.36": 254}
    return {"clusterVersions": [version(name, now + timedelta(days=days)) for name, days in ends.items()]}


def version(name: str, end: datetime) -> Document:
    supported = "STANDARD_SUPPORT" if end > datetime.now(UTC) else "EXTENDED_SUPPORT"
    return {
        "clusterVersion": name,
        "clusterType": "eks",
        "endOfStandardSupportDate": end,
        "endOfExtendedSupportDate": end + timedelta(days=365 if name != "1.32" else 120),
        "versionStatus": supported,
    }


class Answering(t.Protocol):
    """An object that accepts answers."""

    def answer(self, service: str, operation: str, answer: t.Any, region: str = "") -> None:
        """Give an answer to all further requests of that operation."""


def usual(server: Answering, *, now: datetime) -> None:
    """Add the answers that moto lacks."""
    usual_answers: dict[tuple[str, str], t.Any] = {
        ("service-quotas", "GetServiceQuota"): quota,
        ("service-quotas", "GetAWSDefaultServiceQuota"): default_quota,
        ("pricing", "GetProducts"): products,
        ("eks", "DescribeClusterVersions"): versions(now),
        ("ec2", "DescribeCapacityReservations"): {"CapacityReservations": []},
    }
    for (service, operation), answer in usual_answers.items():
        server.answer(service, operation, answer)


ZONES = ["us-west-2a", "us-west-2b"]


P5 = {"instance_type": "p5.48xlarge", "availability_zone": "us-west-2b", "size": {"min": 0, "max": 2}}


# With it the nodes of a group are as few as its minimum and as many as its maximum.
AUTOSCALER = {"autoscaler": "cluster-autoscaler"}


BLOCK = "cr-0123456789abcdef0"


RESERVED = {
    "CapacityReservationId": BLOCK,
    "InstanceType": "p5.48xlarge",
    "AvailabilityZone": "us-west-2b",
    "State": "active",
    "TotalInstanceCount": 4,
    "AvailableInstanceCount": 4,
    "ReservationType": "capacity-block",
}


def stack(**over: t.Any) -> dict[str, t.Any]:
    """The variables of a stack with nothing but a network."""
    return {"name": "demo", "network": {"availability_zones": ZONES}, **over}


def group(**over: t.Any) -> dict[str, t.Any]:
    """The variables of a stack with a network and a node group of P5."""
    return stack(accelerator_node_groups={"p5": {**P5, **over}})
