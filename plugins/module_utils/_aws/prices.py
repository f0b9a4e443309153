# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Unit prices with source and date: from the Pricing API, for spot from EC2, else from the shipped table."""

from __future__ import annotations

import json
import re
import typing as t
from dataclasses import dataclass
from datetime import datetime

from ansible_collections.mlops.eks.plugins.module_utils._aws.price_table import REGION, TABLES
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws, Reply
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, CredentialsError

Key = tuple[str, ...]
# The regions in which the Pricing API answers. Source: AWS Billing user guide, "AWS Price List service endpoints".
_API = {"aws": "us-east-1", "aws-cn": "cn-northwest-1"}


@dataclass(frozen=True, kw_only=True)
class Price:
    """USD per unit: per hour, or per GiB and month."""

    amount: float
    source: str


class Query(t.NamedTuple):
    """A request to the Pricing API: service, filters, and the usage type without its region prefix."""

    service: str
    filters: dict[str, str]
    usage: str


# Source: the offer files of the AWS Price List.
QUERIES: dict[Key, Query] = {
    ("control plane",): Query("AmazonEKS", {"operation": "CreateOperation"}, r"AmazonEKS-Hours:perCluster"),
    ("extended support",): Query("AmazonEKS", {"operation": "ExtendedSupport"}, r"AmazonEKS-Hours:extendedSupport"),
    ("NAT gateway",): Query("AmazonEC2", {"group": "NGW:NatGateway"}, r"NatGateway-Hours"),
    ("VPC endpoint",): Query("AmazonVPC", {"productFamily": "VpcEndpoint"}, r"VpcEndpoint-Hours"),
    ("gp3",): Query("AmazonEC2", {"productFamily": "Storage", "volumeApiName": "gp3"}, r"EBS:VolumeUsage\.gp3"),
    ("EFS",): Query("AmazonEFS", {"storageClass": "General Purpose"}, r"TimedStorage-ByteHrs"),
}
_ON_DEMAND = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}


class Prices:
    """Prices in one region. A service that fails once is not called again; `troubles` has the error of each."""

    def __init__(self, aws: Aws) -> None:
        self._aws = aws
        self.troubles: dict[str, AwsError] = {}

    def of(self, key: Key) -> Price | None:
        """Return the price of a key of `QUERIES`, of `("instance", TYPE)` or `("Lustre", DEPLOYMENT, MB/s)`."""
        return self._asked(key) or self._shipped(key)

    def spot(self, kind: str, zones: tuple[str, ...], now: datetime) -> Price | None:
        """Return the current highest spot price in these zones."""
        wanted = {"InstanceTypes": [kind], "ProductDescriptions": ["Linux/UNIX"], "StartTime": now}
        found = self._ask("ec2", "describe_spot_price_history", "SpotPriceHistory", None, wanted)
        amounts = [float(entry["SpotPrice"]) for entry in found if entry["AvailabilityZone"] in zones]
        return Price(amount=max(amounts), source=f"EC2 spot price, {now:%Y-%m-%d}") if amounts else None

    def _asked(self, key: Key) -> Price | None:
        query = _query(key)
        endpoint = _API.get(self._aws.partition)
        if query is None or endpoint is None:
            return None
        filters = {"regionCode": self._aws.region, **query.filters}
        terms = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in filters.items()]
        wanted = {"ServiceCode": query.service, "Filters": terms}
        found = self._ask("pricing", "get_products", "PriceList", endpoint, wanted)
        products = [json.loads(text) for text in found]
        return _only([product for product in products if _is_usage(product, query.usage)])

    def _ask(self, service: str, operation: str, key: str, region: str | None, wanted: Reply) -> list[t.Any]:
        if service in self.troubles:
            return []
        try:
            return self._aws.pages(service, operation, key, region=region, **wanted)
        except CredentialsError:
            raise
        except AwsError as error:
            self.troubles[service] = error
            return []

    def _shipped(self, key: Key) -> Price | None:
        if self._aws.partition != "aws":
            return None
        for table in TABLES:
            if key in table.prices:
                elsewhere = "" if self._aws.region == REGION else f" ({REGION}'s)"
                return Price(amount=table.prices[key], source=f"table of {table.of}{elsewhere}")
        return None


def _query(key: Key) -> Query | None:
    if key[0] == "instance":
        return Query("AmazonEC2", {"instanceType": key[1], **_ON_DEMAND}, r"(BoxUsage|UnusedBox|InstanceUsage):\S+")
    if key[0] == "Lustre":
        if not key[2]:
            return None
        filters = {"fileSystemType": "Lustre", "storageType": "SSD", "throughputCapacity": key[2]}
        return Query("AmazonFSx", filters, r".*Storage.*")
    return QUERIES[key]


def _is_usage(product: Reply, usage: str) -> bool:
    """Return whether a product has that usage type. In regions other than the first, usage types have a prefix."""
    found = product["product"].get("attributes", {}).get("usagetype", "")
    return re.fullmatch(rf"([A-Z0-9]+-)?{usage}", found) is not None


def _only(products: list[Reply]) -> Price | None:
    """Return the price if all products have the same, else `None`: it is unknown which one AWS bills."""
    found = {
        (float(dimension["pricePerUnit"]["USD"]), product.get("publicationDate", "")[:10])
        for product in products
        for term in product.get("terms", {}).get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
        # A cluster stays in the first tier.
        if dimension.get("beginRange", "0") == "0" and "USD" in dimension["pricePerUnit"]
    }
    if len({amount for amount, _ in found}) != 1:
        return None
    amount, published = max(found)
    return Price(amount=amount, source=f"Pricing API, {published}")
