"""Calls that moto lacks or answers wrongly, of EC2, EFS and IAM; each by the page of its name in the API reference."""

from __future__ import annotations

import json
import typing as t

from fakes.aws.documents import Document, unique
from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateBackend
from moto.ec2.models.security_groups import SecurityGroupRule
from moto.ec2.responses import EC2Response
from moto.efs.models import FileSystem
from moto.efs.responses import EFSResponse
from moto.iam.responses import IamResponse

Answer = tuple[str, dict[str, t.Any]]
PLACEMENT_GROUPS: dict[tuple[str, str], Document] = {}


def extend() -> None:
    """Let moto answer these calls."""
    for call in (create_placement_group, describe_placement_groups, delete_placement_group):
        setattr(EC2Response, call.__name__, call)
    for call in (put_backup_policy, describe_backup_policy, delete_file_system_policy):
        setattr(EFSResponse, call.__name__, call)
    IamResponse.list_instance_profile_tags = list_instance_profile_tags
    LaunchTemplateBackend.create_launch_template = create_launch_template
    SecurityGroupRule.description = property(description)


_create_launch_template = LaunchTemplateBackend.create_launch_template


def create_launch_template(
    self: LaunchTemplateBackend, name: str, description: str, template_data: Document, tag_spec: Document
) -> LaunchTemplate:
    """EC2: CreateLaunchTemplate; moto takes the tags of the template itself for tags of what is made of it."""
    made = [entry for entry in template_data.get("TagSpecifications", []) if entry["ResourceType"] != "launch-template"]
    return _create_launch_template(self, name, description, template_data | {"TagSpecifications": made}, tag_spec)


def description(self: SecurityGroupRule) -> str | None:
    """EC2: SecurityGroupRule; moto has no description of rules that name a group."""
    found: str | None = self.ip_range.get("Description") or (self.source_group or {}).get("Description")
    return found


def create_placement_group(self: EC2Response) -> ActionResult:
    """EC2: CreatePlacementGroup, PlacementGroup."""
    name, number = self._get_param("GroupName"), unique("pg")
    if (self.region, name) in PLACEMENT_GROUPS:
        raise EC2ClientError("InvalidPlacementGroup.Duplicate", f"The placement group '{name}' already exists.")
    tags = self._parse_tag_specification().get("placement-group", {})
    PLACEMENT_GROUPS[self.region, name] = {
        "GroupName": name, "GroupId": number, "State": "available", "Strategy": self._get_param("Strategy", "cluster"),
        "GroupArn": f"arn:aws:ec2:{self.region}:{self.current_account}:placement-group/{name}",
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }  # fmt: skip
    return ActionResult({"PlacementGroup": PLACEMENT_GROUPS[self.region, name]})


def describe_placement_groups(self: EC2Response) -> ActionResult:
    """EC2: DescribePlacementGroups."""
    names = self._get_param("GroupNames", []) or self._get_param("GroupName", [])
    groups = [group for (region, _), group in PLACEMENT_GROUPS.items() if region == self.region]
    missing = set(names) - {group["GroupName"] for group in groups}
    if missing:
        raise EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{missing.pop()}' is unknown.")
    return ActionResult({"PlacementGroups": [group for group in groups if not names or group["GroupName"] in names]})


def delete_placement_group(self: EC2Response) -> ActionResult:
    """EC2: DeletePlacementGroup."""
    name = self._get_param("GroupName")
    if PLACEMENT_GROUPS.pop((self.region, name), None) is None:
        raise EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
    return ActionResult({})


def list_instance_profile_tags(self: IamResponse) -> ActionResult:
    """IAM: ListInstanceProfileTags."""
    profile = self.backend.get_instance_profile(self._get_param("InstanceProfileName"))
    return ActionResult({"Tags": profile.tags, "IsTruncated": False})


def file_system(self: EFSResponse) -> FileSystem:
    """Return the file system that a request is about."""
    found: FileSystem | None = self.efs_backend.file_systems_by_id.get(self._get_param("FileSystemId"))
    if found is None:
        raise JsonRESTError("FileSystemNotFound", f"File system '{self._get_param('FileSystemId')}' does not exist.")
    return found


def put_backup_policy(self: EFSResponse) -> Answer:
    """EFS: PutBackupPolicy."""
    file_system(self)._backup = self._get_param("BackupPolicy")["Status"] == "ENABLED"
    return describe_backup_policy(self)


def describe_backup_policy(self: EFSResponse) -> Answer:
    """EFS: DescribeBackupPolicy; moto says of a policy that is disabled that there is none."""
    status = "ENABLED" if file_system(self)._backup else "DISABLED"
    return json.dumps({"BackupPolicy": {"Status": status}}), {"Content-Type": "application/json"}


def delete_file_system_policy(self: EFSResponse) -> Answer:
    """EFS: DeleteFileSystemPolicy."""
    file_system(self).file_system_policy = None
    return "", {"Content-Type": "application/json"}
