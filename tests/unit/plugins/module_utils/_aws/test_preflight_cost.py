"""What a month costs, and where each price is from."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fakes.aws.answers import AUTOSCALER, BLOCK, P5, RESERVED, group, product, stack
from fakes.aws.server import AwsServer

from ansible_collections.mlops.eks.plugins.module_utils._aws.preflight import preflight

Findings = dict[str, tuple[str, str]]
Look = Callable[..., Findings]
Client = Callable[..., t.Any]


def test_the_estimate_counts_the_fewest_and_the_most_nodes(account: AwsServer) -> None:
    params = {"region": "us-west-2", "profile": None, "pipelines": [], "others": [], "fail": True, "show": False}
    asked = group(size={"min": 1, "max": 2}) | {"fsx": {"fsx": {}}, "kubernetes_version": "1.35"} | AUTOSCALER
    cost = preflight({**params, "variables": asked})["cost"]
    lines = {line["item"]: line for line in cost["lines"]}
    assert lines["control plane"]["monthly_min"] == 73.0
    assert lines["control plane"]["source"] == "Pricing API, 2026-11-20"
    assert (lines["nodes p5 (p5.48xlarge)"]["monthly_min"], lines["nodes p5 (p5.48xlarge)"]["monthly_max"]) == (
        round(55.04 * 730, 2),
        round(55.04 * 730 * 2, 2),
    )
    assert lines["volumes of nodes"]["quantity_max"] == 200 * (8 + 2)
    # The API has no price of it here, the table has that of another region, and says so.
    assert lines["FSx fsx"]["source"] == "table of 2026-05-01 (us-east-1's)"
    assert lines["FSx fsx"]["monthly_min"] == 168.0
    assert cost["monthly_min"] == round(sum(line["monthly_min"] for line in cost["lines"]), 2)


def test_without_an_autoscaler_the_nodes_cost_what_they_cost(account: AwsServer) -> None:
    params = {"region": "us-west-2", "profile": None, "pipelines": [], "others": [], "fail": True, "show": False}
    cost = preflight({**params, "variables": group(size={"min": 0, "desired": 1, "max": 2})})["cost"]
    lines = {line["item"]: (line["quantity_min"], line["quantity_max"]) for line in cost["lines"]}
    assert (lines["nodes p5 (p5.48xlarge)"], lines["nodes system (m7i.xlarge)"]) == ((1, 1), (2, 2))


def test_prices_that_are_not_known_or_not_clear_are_not_made_up(look: Look, account: AwsServer) -> None:
    two = [product("USW2-BoxUsage:x2.huge", 1.0), product("USW2-BoxUsage:x2.huge", 2.0)]
    account.answer("pricing", "GetProducts", {"PriceList": two})
    level, text = look(group(instance_type="u7in-32tb.224xlarge"))["cost"]
    assert level == "warn"
    assert "No price is known of nodes p5 (u7in-32tb.224xlarge)" in text


def test_spot_and_blocks_have_prices_of_their_own(account: AwsServer) -> None:
    price = {"InstanceType": "g5.xlarge", "SpotPrice": "0.4", "AvailabilityZone": "us-west-2a"}
    dear = {**price, "SpotPrice": "9", "AvailabilityZone": "us-west-2d"}
    account.answer("ec2", "DescribeSpotPriceHistory", {"SpotPriceHistory": [price, dear]})
    account.answer("ec2", "DescribeCapacityReservations", {"CapacityReservations": [RESERVED]})
    groups = {
        "cheap": {"instance_type": "g5.xlarge", "capacity": {"type": "spot"}, "size": {"max": 1}},
        "paid": {**P5, "capacity": {"type": "capacity_block", "reservation_id": BLOCK}},
    }
    params = {"region": "us-west-2", "profile": None, "pipelines": [], "others": [], "fail": False, "show": False}
    cost = preflight({**params, "variables": stack(accelerator_node_groups=groups, **AUTOSCALER)})["cost"]
    lines = {line["item"]: line for line in cost["lines"]}
    assert lines["nodes cheap (g5.xlarge)"]["monthly_max"] == round(0.4 * 730, 2)
    assert lines["nodes paid (p5.48xlarge)"]["monthly_max"] == 0.0
    assert "paid in advance" in lines["nodes paid (p5.48xlarge)"]["source"]
