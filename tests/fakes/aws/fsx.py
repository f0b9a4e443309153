"""A fake FSx for Lustre for Terraform's provider, after the API reference: it describes what was requested.

Moto's own FSx has no life cycle, so that no file system ever becomes available, and no data repository associations.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fakes.aws.documents import ACCOUNT, Document, Request, ServiceError, now, unique
from moto.ec2.models import ec2_backends

Handler = Callable[["Region", Document], Document]


class Region:
    """The file systems and associations of one region by ID."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.file_systems: dict[str, Document] = {}
        self.associations: dict[str, Document] = {}

    def arn(self, kind: str, number: str) -> str:
        return f"arn:aws:fsx:{self.name}:{ACCOUNT}:{kind}/{number}"

    def file_system(self, number: str) -> Document:
        if number not in self.file_systems:
            raise ServiceError("FileSystemNotFound", f"File system '{number}' does not exist.")
        return self.file_systems[number]

    def association(self, number: str) -> Document:
        if number not in self.associations:
            raise ServiceError("DataRepositoryAssociationNotFound", f"Association '{number}' does not exist.")
        return self.associations[number]

    def tagged(self, arn: str) -> Document:
        for document in [*self.file_systems.values(), *self.associations.values()]:
            if document["ResourceARN"] == arn:
                return document
        raise ServiceError("ResourceNotFound", f"{arn} does not exist.")


REGIONS: dict[str, Region] = {}


def answer(request: Request) -> Document:
    """Answer a request; an operation that is not in the table fails."""
    operation = request.headers.get("X-Amz-Target", "").rpartition(".")[2]
    if operation not in OPERATIONS:
        raise ServiceError("UnknownOperationException", f"tests/fakes/aws/fsx.py has no {operation}")
    region = REGIONS.setdefault(request.region, Region(request.region))
    return OPERATIONS[operation](region, request.body)


def create_file_system(region: Region, body: Document) -> Document:
    """API reference: CreateFileSystem, FileSystem, LustreFileSystemConfiguration."""
    number = unique("fs")
    lustre = {"MountName": unique("", 8)[1:], "WeeklyMaintenanceStartTime": "1:05:00", "DataCompressionType": "NONE"}
    subnet = ec2_backends[ACCOUNT][region.name].get_subnet(body["SubnetIds"][0])
    asked = {key: value for key, value in body.items() if key not in ("ClientRequestToken", "SecurityGroupIds")}
    region.file_systems[number] = {
        "Tags": [], "FileSystemTypeVersion": "2.10", "KmsKeyId": f"arn:aws:kms:{region.name}:{ACCOUNT}:key/aws-fsx",
        **asked, "FileSystemId": number, "OwnerId": ACCOUNT, "CreationTime": now(), "Lifecycle": "AVAILABLE",
        "VpcId": subnet.vpc_id, "DNSName": f"{number}.fsx.{region.name}.amazonaws.com",
        "NetworkInterfaceIds": [unique("eni")],
        "ResourceARN": region.arn("file-system", number), "LustreConfiguration": lustre | body["LustreConfiguration"],
    }  # fmt: skip
    return {"FileSystem": region.file_systems[number]}


def describe_file_systems(region: Region, body: Document) -> Document:
    """API reference: DescribeFileSystems."""
    wanted = body.get("FileSystemIds") or list(region.file_systems)
    return {"FileSystems": [region.file_system(number) for number in wanted]}


def update_file_system(region: Region, body: Document) -> Document:
    """API reference: UpdateFileSystem."""
    found = region.file_system(body["FileSystemId"])
    found["LustreConfiguration"] |= body.get("LustreConfiguration", {})
    found |= {key: body[key] for key in ("StorageCapacity", "FileSystemTypeVersion") if key in body}
    return {"FileSystem": found}


def delete_file_system(region: Region, body: Document) -> Document:
    """API reference: DeleteFileSystem; its associations go with it."""
    number = region.file_system(body["FileSystemId"])["FileSystemId"]
    del region.file_systems[number]
    region.associations = {key: entry for key, entry in region.associations.items() if entry["FileSystemId"] != number}
    return {"FileSystemId": number, "Lifecycle": "DELETING"}


def create_data_repository_association(region: Region, body: Document) -> Document:
    """API reference: CreateDataRepositoryAssociation, DataRepositoryAssociation; no path may be inside another."""
    file_system, path = region.file_system(body["FileSystemId"]), body["FileSystemPath"].rstrip("/") + "/"
    for other in region.associations.values():
        theirs = other["FileSystemPath"].rstrip("/") + "/"
        if other["FileSystemId"] == body["FileSystemId"] and (path.startswith(theirs) or theirs.startswith(path)):
            raise ServiceError("BadRequest", f"{body['FileSystemPath']} overlaps with {other['FileSystemPath']}")
    number = unique("dra")
    asked = {key: value for key, value in body.items() if key != "ClientRequestToken"}
    region.associations[number] = {
        "Tags": [], "ImportedFileChunkSize": 1024, "BatchImportMetaDataOnCreate": False, **asked,
        "AssociationId": number, "ResourceARN": region.arn("association", f"{file_system['FileSystemId']}/{number}"),
        "Lifecycle": "AVAILABLE", "CreationTime": now(),
    }  # fmt: skip
    return {"Association": region.associations[number]}


def describe_data_repository_associations(region: Region, body: Document) -> Document:
    """API reference: DescribeDataRepositoryAssociations, Filter."""
    found = [region.association(number) for number in body.get("AssociationIds") or list(region.associations)]
    for wanted in body.get("Filters") or []:
        if wanted["Name"] == "file-system-id":
            found = [entry for entry in found if entry["FileSystemId"] in wanted["Values"]]
    return {"Associations": found}


def update_data_repository_association(region: Region, body: Document) -> Document:
    """API reference: UpdateDataRepositoryAssociation."""
    found = region.association(body["AssociationId"])
    found |= {key: body[key] for key in ("ImportedFileChunkSize", "S3") if key in body}
    return {"Association": found}


def delete_data_repository_association(region: Region, body: Document) -> Document:
    """API reference: DeleteDataRepositoryAssociation."""
    number = region.association(body["AssociationId"])["AssociationId"]
    del region.associations[number]
    emptied = body.get("DeleteDataInFileSystem", False)
    return {"AssociationId": number, "Lifecycle": "DELETING", "DeleteDataInFileSystem": emptied}


def tag_resource(region: Region, body: Document) -> Document:
    """API reference: TagResource."""
    found = region.tagged(body["ResourceARN"])
    new: dict[str, t.Any] = {tag["Key"]: tag for tag in found["Tags"]} | {tag["Key"]: tag for tag in body["Tags"]}
    found["Tags"] = list(new.values())
    return {}


def untag_resource(region: Region, body: Document) -> Document:
    """API reference: UntagResource."""
    found = region.tagged(body["ResourceARN"])
    found["Tags"] = [tag for tag in found["Tags"] if tag["Key"] not in body["TagKeys"]]
    return {}


def list_tags_for_resource(region: Region, body: Document) -> Document:
    """API reference: ListTagsForResource."""
    return {"Tags": region.tagged(body["ResourceARN"])["Tags"]}


OPERATIONS: dict[str, Handler] = {
    "CreateFileSystem": create_file_system,
    "DescribeFileSystems": describe_file_systems,
    "UpdateFileSystem": update_file_system,
    "DeleteFileSystem": delete_file_system,
    "CreateDataRepositoryAssociation": create_data_repository_association,
    "DescribeDataRepositoryAssociations": describe_data_repository_associations,
    "UpdateDataRepositoryAssociation": update_data_repository_association,
    "DeleteDataRepositoryAssociation": delete_data_repository_association,
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
    "ListTagsForResource": list_tags_for_resource,
}
