"""What the API server says that it is and serves."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.discovery import api_versions, server_version

Serve = Callable[[Answer], tuple[Server, Kube]]
Json = dict[str, t.Any]


def resource(kind: str, *subresources: str) -> Json:
    below = [{"subresource": "scale", "responseKind": {"kind": one}} for one in subresources]
    return {"resource": kind.lower(), "responseKind": {"kind": kind}, "subresources": below}


AGGREGATED: dict[str, Json] = {
    "/api": {"items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [resource("Pod")]}]}]},
    "/apis": {
        "items": [
            {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [resource("Job", "Scale")]}]},
            {"metadata": {"name": "x.io"}, "versions": [{"version": "v2"}, {"version": "v1", "resources": None}]},
        ]
    },
}


def test_all_that_is_served_comes_in_one_answer_for_each_root(serve: Serve) -> None:
    server, kube = serve(lambda exchange: exchange.reply(AGGREGATED[exchange.path]))
    assert api_versions(kube) == ("apps/v1", "apps/v1/Job", "apps/v1/Scale", "v1", "v1/Pod", "x.io/v1", "x.io/v2")
    assert [request.path for request in server.requests] == ["/api", "/apis"]
    assert "as=APIGroupDiscoveryList" in str(server.requests[0].headers["Accept"])


def test_an_older_server_tells_the_versions_of_its_groups(serve: Serve) -> None:
    groups = {"kind": "APIGroupList", "groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1"}]}]}
    _, kube = serve(lambda exchange: exchange.reply(groups if exchange.path == "/apis" else {"versions": ["v1"]}))
    assert api_versions(kube) == ("apps/v1",)


def test_discovery_without_permission_is_empty(serve: Serve) -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.reply({"message": "forbidden"}, status=403)

    _, kube = serve(refuse)
    assert (server_version(kube), api_versions(kube)) == ("", ())


def test_the_version_is_the_whole_one(serve: Serve) -> None:
    _, kube = serve(lambda exchange: exchange.reply({"minor": "31+", "gitVersion": "v1.31.4-eks-2d5f260"}))
    assert server_version(kube) == "v1.31.4-eks-2d5f260"
