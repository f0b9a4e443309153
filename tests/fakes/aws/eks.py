"""A fake Amazon EKS for the calls of Terraform's provider, after the API reference: it describes what was requested.

Moto's own EKS keeps neither access entries, add-ons and Pod Identity associations nor half of a cluster's settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from fakes.aws import eks_scaling
from fakes.aws.documents import ACCOUNT, Document, Request, ServiceError, in_use, not_found, now, unique
from moto.ec2.models import ec2_backends

Handler = Callable[..., Document]


class Region:
    """The clusters of one region, each with its objects, and every tagged object by ARN."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.clusters: dict[str, Document] = {}
        self.parts: dict[str, dict[str, dict[str, Document]]] = {}

    def arn(self, kind: str, *parts: str) -> str:
        return ":".join(("arn:aws:eks", self.name, ACCOUNT, "/".join((kind, *parts))))

    def cluster(self, name: str) -> Document:
        if name not in self.clusters:
            raise not_found(f"cluster {name}")
        return self.clusters[name]

    def all(self, cluster: str, kind: str) -> dict[str, Document]:
        """Return the objects of a kind (node groups, add-ons, ...) of a cluster, by name."""
        self.cluster(cluster)
        return self.parts[cluster].setdefault(kind, {})

    def one(self, cluster: str, kind: str, name: str) -> Document:
        found = self.all(cluster, kind)
        if name not in found:
            raise not_found(f"{kind} {name} of cluster {cluster}")
        return found[name]

    def add(self, cluster: str, kind: str, name: str, document: Document) -> Document:
        found = self.all(cluster, kind)
        if name in found:
            raise in_use(f"{kind} {name} of cluster {cluster} already exists")
        stamps = {"clusterName": cluster, "createdAt": now(), "modifiedAt": now()}
        found[name] = {"tags": {}, **stamps, **document}
        return found[name]


REGIONS: dict[str, Region] = {}
ROUTES: list[tuple[str, re.Pattern[str], Handler]] = []


def route(method: str, path: str) -> Callable[[Handler], Handler]:
    """Let a handler answer a method on a path; `{name}` stands for a part of it, `{name*}` for all the rest."""
    pattern = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", re.sub(r"{(\w+)\*}", r"(?P<\1>.+)", path))

    def register(handler: Handler) -> Handler:
        ROUTES.append((method, re.compile(f"^{pattern}$"), handler))
        return handler

    return register


def answer(request: Request) -> Document:
    """Answer a request. A request without a route fails, so that a test cannot pass by accident."""
    region = REGIONS.setdefault(request.region, Region(request.region))
    for method, pattern, handler in ROUTES:
        if method == request.method and (match := pattern.match(request.path)):
            return handler(region, request, **{key: unquote(value) for key, value in match.groupdict().items()})
    raise ServiceError("UnknownOperationException", f"the fake EKS has no {request.method} {request.path}", 404)


def update(kind: str) -> Document:
    """Return a completed update. API reference: Update."""
    return {"update": {"id": unique("update"), "status": "Successful", "type": kind, "createdAt": now(), "errors": []}}


def requested(body: Document, *without: str) -> Document:
    """Return the settings in a request, without the fields of the request itself."""
    without += ("clientRequestToken",)
    return {key: value for key, value in body.items() if value is not None and key not in without}


def add_access_entry(region: Region, name: str, asked: Document) -> Document:
    principal = asked["principalArn"]
    kind, _, last = principal.split(":")[5].partition("/")
    arn = region.arn("access-entry", name, kind, ACCOUNT, last, unique("", 12)[1:])
    defaults = {"kubernetesGroups": [], "type": "STANDARD", "username": principal}
    document = defaults | requested(asked) | {"accessEntryArn": arn, "policies": {}}
    return region.add(name, "access entry", principal, document)


# --- Clusters: API reference, CreateCluster, Cluster, VpcConfigResponse, AccessConfigResponse.


@route("POST", "/clusters")
def create_cluster(region: Region, request: Request) -> Document:
    name = request.body["name"]
    if name in region.clusters:
        raise in_use(f"Cluster already exists with name: {name}")
    ec2 = ec2_backends[ACCOUNT][region.name]
    network = request.body["resourcesVpcConfig"]
    vpc = ec2.get_subnet(network["subnetIds"][0]).vpc_id
    group = ec2.create_security_group(f"eks-cluster-sg-{name}", "EKS created security group", vpc)
    services = {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"}
    region.parts[name] = {}
    region.clusters[name] = {
        "tags": {}, **requested(request.body, "bootstrapSelfManagedAddons"),
        "arn": region.arn("cluster", name), "status": "ACTIVE", "createdAt": now(), "platformVersion": "eks.1",
        "endpoint": f"https://{name}.gr7.{region.name}.eks.amazonaws.com", "health": {"issues": []},
        "certificateAuthority": {"data": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="},
        "identity": {"oidc": {"issuer": f"https://oidc.eks.{region.name}.amazonaws.com/id/{name.upper()}"}},
        "kubernetesNetworkConfig": services | request.body.get("kubernetesNetworkConfig", {}),
        "resourcesVpcConfig": network | {"vpcId": vpc, "clusterSecurityGroupId": group.id},
    }  # fmt: skip
    return {"cluster": region.clusters[name]}


@route("GET", "/clusters")
def list_clusters(region: Region, request: Request) -> Document:
    return {"clusters": sorted(region.clusters)}


@route("GET", "/clusters/{name}")
def describe_cluster(region: Region, request: Request, name: str) -> Document:
    return {"cluster": region.cluster(name)}


@route("DELETE", "/clusters/{name}")
def delete_cluster(region: Region, request: Request, name: str) -> Document:
    cluster = region.cluster(name)
    if region.all(name, "node group"):
        raise in_use("Cluster has nodegroups attached")
    ec2_backends[ACCOUNT][region.name].delete_security_group(
        group_id=cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    )
    del region.parts[name]
    return {"cluster": region.clusters.pop(name) | {"status": "DELETING"}}


@route("POST", "/clusters/{name}/update-config")
def update_cluster_config(region: Region, request: Request, name: str) -> Document:
    cluster = region.cluster(name)
    for key, value in requested(request.body, "name").items():
        cluster[key] = cluster[key] | value if isinstance(cluster.get(key), dict) else value
    return update("EndpointAccessUpdate")


@route("POST", "/clusters/{name}/updates")
def update_cluster_version(region: Region, request: Request, name: str) -> Document:
    region.cluster(name)["version"] = request.body["version"]
    return update("VersionUpdate")


@route("GET", "/clusters/{name}/updates/{number}")
def describe_update(region: Region, request: Request, name: str, number: str) -> Document:
    done = update("VersionUpdate")
    done["update"]["id"] = number
    return done


# --- Managed node groups: API reference, CreateNodegroup, Nodegroup, NodegroupResources.


@route("POST", "/clusters/{name}/node-groups")
def create_nodegroup(region: Region, request: Request, name: str) -> Document:
    body, version = request.body, region.cluster(name)["version"]
    group = body["nodegroupName"]
    eks_scaling.check(body["scalingConfig"])
    number = unique("", 8)[1:]
    document = {
        "version": version, "releaseVersion": f"{version}.0-20260120", "labels": {}, "health": {"issues": []},
        **requested(body), "nodegroupArn": region.arn("nodegroup", name, group, number), "status": "ACTIVE",
        "resources": {"autoScalingGroups": [{"name": f"eks-{group}-{number}"}]},
    }  # fmt: skip
    if "launchTemplate" in document:
        templates = ec2_backends[ACCOUNT][region.name].describe_launch_templates(
            template_ids=[document["launchTemplate"]["id"]]
        )
        document["launchTemplate"] |= {"name": templates[0].name}
    created = region.add(name, "node group", group, document)
    if "launchTemplate" in document:
        eks_scaling.create(region.name, f"eks-{group}-{number}", created)
    # EKS lets the nodes of its own groups in; the API reference of CreateAccessEntry says so.
    if body["nodeRole"] not in region.all(name, "access entry"):
        add_access_entry(region, name, {"principalArn": body["nodeRole"], "type": "EC2_LINUX"})
    return {"nodegroup": created}


@route("GET", "/clusters/{name}/node-groups")
def list_nodegroups(region: Region, request: Request, name: str) -> Document:
    return {"nodegroups": sorted(region.all(name, "node group"))}


@route("GET", "/clusters/{name}/node-groups/{group}")
def describe_nodegroup(region: Region, request: Request, name: str, group: str) -> Document:
    return {"nodegroup": region.one(name, "node group", group)}


@route("DELETE", "/clusters/{name}/node-groups/{group}")
def delete_nodegroup(region: Region, request: Request, name: str, group: str) -> Document:
    for entry in region.one(name, "node group", group)["resources"]["autoScalingGroups"]:
        eks_scaling.delete(region.name, entry["name"])
    return {"nodegroup": region.all(name, "node group").pop(group) | {"status": "DELETING"}}


@route("POST", "/clusters/{name}/node-groups/{group}/update-config")
def update_nodegroup_config(region: Region, request: Request, name: str, group: str) -> Document:
    document = region.one(name, "node group", group)
    document["scalingConfig"] = _sized(document["scalingConfig"], request.body.get("scalingConfig") or {})
    for entry in document["resources"]["autoScalingGroups"]:
        eks_scaling.resize(region.name, entry["name"], document["scalingConfig"])
    document["taints"] = _tainted(document.get("taints") or [], request.body.get("taints") or {})
    changes = request.body.get("labels") or {}
    document["labels"] = {
        key: value
        for key, value in (document["labels"] | changes.get("addOrUpdateLabels", {})).items()
        if key not in changes.get("removeLabels", [])
    }
    document.update({key: request.body[key] for key in ("updateConfig",) if request.body.get(key)})
    return update("ConfigUpdate")


def _sized(sizes: Document, asked: Document) -> Document:
    """NodegroupScalingConfig: when it is updated, any of its fields may be left out."""
    eks_scaling.check(sizes | asked)
    return sizes | asked


def _tainted(taints: list[Document], asked: Document) -> list[Document]:
    """UpdateTaintsPayload."""
    gone = [(taint["key"], taint["effect"]) for key in asked for taint in asked[key]]
    kept = [taint for taint in taints if (taint["key"], taint["effect"]) not in gone]
    return [*kept, *asked.get("addOrUpdateTaints", [])]


@route("POST", "/clusters/{name}/node-groups/{group}/update-version")
def update_nodegroup_version(region: Region, request: Request, name: str, group: str) -> Document:
    document = region.one(name, "node group", group)
    document.update({key: request.body[key] for key in ("version", "releaseVersion") if request.body.get(key)})
    document["launchTemplate"] = document.get("launchTemplate", {}) | request.body.get("launchTemplate", {})
    return update("VersionUpdate")
