"""Access entries, Pod Identity and add-ons of the fake EKS, and the tags of all its objects."""

from __future__ import annotations

import typing as t

from fakes.aws.documents import Document, Request, ServiceError, in_use, not_found, now, unique
from fakes.aws.eks import Region, add_access_entry, requested, route, update

SERVICE = "eks"
# The add-ons the tests use, with a version in each one's form; EKS knows many more.
CATALOGUE = {
    "aws-ebs-csi-driver": "v1.54.0-eksbuild.1",
    "aws-efs-csi-driver": "v3.4.1-eksbuild.1",
    "aws-fsx-csi-driver": "v1.9.0-eksbuild.1",
    "coredns": "v1.13.1-eksbuild.1",
    "eks-node-monitoring-agent": "v1.5.0-eksbuild.1",
    "eks-pod-identity-agent": "v1.3.10-eksbuild.1",
    "kube-proxy": "v1.35.0-eksbuild.2",
    "metrics-server": "v0.8.0-eksbuild.3",
    "vpc-cni": "v1.21.1-eksbuild.1",
}


# --- Access entries: API reference, CreateAccessEntry, AccessEntry, AssociateAccessPolicy, AssociatedAccessPolicy.


def shown(entry: Document) -> Document:
    """Return an access entry as EKS shows it; its policies have a separate list."""
    return {"accessEntry": {key: value for key, value in entry.items() if key != "policies"}}


@route("POST", "/clusters/{name}/access-entries")
def create_access_entry(region: Region, request: Request, name: str) -> Document:
    return shown(add_access_entry(region, name, request.body))


@route("GET", "/clusters/{name}/access-entries")
def list_access_entries(region: Region, request: Request, name: str) -> Document:
    return {"accessEntries": sorted(region.all(name, "access entry"))}


@route("POST", "/clusters/{name}/access-entries/{principal}/access-policies")
def associate_access_policy(region: Region, request: Request, name: str, principal: str) -> Document:
    policies = region.one(name, "access entry", principal)["policies"]
    policy = request.body["policyArn"]
    policies[policy] = requested(request.body) | {"associatedAt": now(), "modifiedAt": now()}
    return {"clusterName": name, "principalArn": principal, "associatedAccessPolicy": policies[policy]}


@route("GET", "/clusters/{name}/access-entries/{principal}/access-policies")
def list_associated_access_policies(region: Region, request: Request, name: str, principal: str) -> Document:
    policies = list(region.one(name, "access entry", principal)["policies"].values())
    return {"clusterName": name, "principalArn": principal, "associatedAccessPolicies": policies}


@route("DELETE", "/clusters/{name}/access-entries/{principal}/access-policies/{policy}")
def disassociate_access_policy(region: Region, request: Request, name: str, principal: str, policy: str) -> Document:
    if region.one(name, "access entry", principal)["policies"].pop(policy, None) is None:
        raise not_found(f"policy {policy} of {principal}")
    return {}


@route("GET", "/clusters/{name}/access-entries/{principal}")
def describe_access_entry(region: Region, request: Request, name: str, principal: str) -> Document:
    return shown(region.one(name, "access entry", principal))


@route("POST", "/clusters/{name}/access-entries/{principal}")
def update_access_entry(region: Region, request: Request, name: str, principal: str) -> Document:
    entry = region.one(name, "access entry", principal)
    entry.update(requested(request.body), modifiedAt=now())
    return shown(entry)


@route("DELETE", "/clusters/{name}/access-entries/{principal}")
def delete_access_entry(region: Region, request: Request, name: str, principal: str) -> Document:
    region.one(name, "access entry", principal)
    del region.all(name, "access entry")[principal]
    return {}


# --- Pod Identity: API reference, CreatePodIdentityAssociation, PodIdentityAssociation, PodIdentityAssociationSummary.


def associate(region: Region, name: str, asked: Document, owner: str | None = None) -> Document:
    for other in region.all(name, "association").values():
        if [other["namespace"], other["serviceAccount"]] == [asked["namespace"], asked["serviceAccount"]]:
            raise in_use(f"Association already exists: {other['associationId']}")
    number = unique("a")
    arn = region.arn("podidentityassociation", name, number)
    document = requested(asked) | {"associationId": number, "associationArn": arn}
    return region.add(name, "association", number, document | ({"ownerArn": owner} if owner else {}))


@route("POST", "/clusters/{name}/pod-identity-associations")
def create_pod_identity_association(region: Region, request: Request, name: str) -> Document:
    return {"association": associate(region, name, request.body)}


@route("GET", "/clusters/{name}/pod-identity-associations")
def list_pod_identity_associations(region: Region, request: Request, name: str) -> Document:
    wanted = {key: request.query[key][0] for key in ("namespace", "serviceAccount") if key in request.query}
    found = region.all(name, "association").values()
    return {"associations": [entry for entry in found if wanted.items() <= entry.items()]}


@route("GET", "/clusters/{name}/pod-identity-associations/{number}")
def describe_pod_identity_association(region: Region, request: Request, name: str, number: str) -> Document:
    return {"association": region.one(name, "association", number)}


@route("POST", "/clusters/{name}/pod-identity-associations/{number}")
def update_pod_identity_association(region: Region, request: Request, name: str, number: str) -> Document:
    association = region.one(name, "association", number)
    association.update(requested(request.body), modifiedAt=now())
    return {"association": association}


@route("DELETE", "/clusters/{name}/pod-identity-associations/{number}")
def delete_pod_identity_association(region: Region, request: Request, name: str, number: str) -> Document:
    region.one(name, "association", number)
    return {"association": region.all(name, "association").pop(number)}


# --- Add-ons: API reference, DescribeAddonVersions, AddonVersionInfo, Compatibility, CreateAddon, Addon.


@route("GET", "/addons/supported-versions")
def describe_addon_versions(region: Region, request: Request) -> Document:
    names = request.query.get("addonName", sorted(CATALOGUE))
    cluster = request.query.get("kubernetesVersion", ["1.35"])[0]
    compatible = [{"clusterVersion": cluster, "defaultVersion": True, "platformVersions": ["*"]}]
    return {
        "addons": [
            {"addonName": name, "addonVersions": [{"addonVersion": CATALOGUE[name], "compatibilities": compatible}]}
            for name in names
            if name in CATALOGUE
        ]
    }


def identify(region: Region, name: str, addon: Document, asked: list[Document]) -> list[str]:
    """Replace an add-on's associations by the requested ones; return their ARNs, as an add-on shows them."""
    kept = region.all(name, "association")
    for number in [number for number, entry in kept.items() if entry.get("ownerArn") == addon["addonArn"]]:
        del kept[number]
    made = [associate(region, name, {"namespace": "kube-system", **entry}, addon["addonArn"]) for entry in asked]
    return [entry["associationArn"] for entry in made]


@route("POST", "/clusters/{name}/addons")
def create_addon(region: Region, request: Request, name: str) -> Document:
    addon = request.body["addonName"]
    if addon not in CATALOGUE:
        raise ServiceError("InvalidParameterException", f"Addon {addon} is not supported")
    arn = region.arn("addon", name, addon, unique("", 8)[1:])
    asked = requested(request.body, "resolveConflicts", "podIdentityAssociations")
    document = {"addonVersion": CATALOGUE[addon], "status": "ACTIVE", "health": {"issues": []}, "addonArn": arn} | asked
    created = region.add(name, "addon", addon, document)
    identities = request.body.get("podIdentityAssociations") or []
    created["podIdentityAssociations"] = identify(region, name, created, identities)
    return {"addon": created}


@route("GET", "/clusters/{name}/addons")
def list_addons(region: Region, request: Request, name: str) -> Document:
    return {"addons": sorted(region.all(name, "addon"))}


@route("GET", "/clusters/{name}/addons/{addon}")
def describe_addon(region: Region, request: Request, name: str, addon: str) -> Document:
    return {"addon": region.one(name, "addon", addon)}


@route("POST", "/clusters/{name}/addons/{addon}/update")
def update_addon(region: Region, request: Request, name: str, addon: str) -> Document:
    document = region.one(name, "addon", addon)
    document.update(requested(request.body, "resolveConflicts", "podIdentityAssociations"), modifiedAt=now())
    if request.body.get("podIdentityAssociations") is not None:
        document["podIdentityAssociations"] = identify(region, name, document, request.body["podIdentityAssociations"])
    return update("AddonUpdate")


@route("DELETE", "/clusters/{name}/addons/{addon}")
def delete_addon(region: Region, request: Request, name: str, addon: str) -> Document:
    identify(region, name, region.one(name, "addon", addon), [])
    return {"addon": region.all(name, "addon").pop(addon) | {"status": "DELETING"}}


# --- Tags: API reference, TagResource, UntagResource, ListTagsForResource.


def tagged(region: Region, arn: str) -> Document:
    """Return the object that has an ARN."""
    documents: list[Document] = [*region.clusters.values()]
    for kinds in region.parts.values():
        for found in kinds.values():
            documents += found.values()
    for document in documents:
        if arn in [value for key, value in document.items() if key.lower().endswith("arn") and key != "ownerArn"]:
            return document
    raise not_found(arn)


@route("POST", "/tags/{arn*}")
def tag_resource(region: Region, request: Request, arn: str) -> Document:
    tagged(region, arn)["tags"].update(request.body["tags"])
    return {}


@route("DELETE", "/tags/{arn*}")
def untag_resource(region: Region, request: Request, arn: str) -> Document:
    tags: dict[str, t.Any] = tagged(region, arn)["tags"]
    for key in request.query["tagKeys"]:
        tags.pop(key, None)
    return {}


@route("GET", "/tags/{arn*}")
def list_tags_for_resource(region: Region, request: Request, arn: str) -> Document:
    return {"tags": tagged(region, arn)["tags"]}
