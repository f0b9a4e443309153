"""The Auto Scaling group behind a managed node group, in moto: found, described and tagged there. It launches nothing.

Source: Amazon EKS user guide, "Simplify node lifecycle with managed node groups"; the tags are those that EKS
gives it.
"""

from __future__ import annotations

from fakes.aws.documents import ACCOUNT, Document, ServiceError
from moto.autoscaling.models import AutoScalingBackend, autoscaling_backends


def check(sizes: Document) -> None:
    """Refuse what EKS refuses; the words are those of terraform-provider-aws issue 18310."""
    least, wanted, most = (sizes[key] for key in ("minSize", "desiredSize", "maxSize"))
    if least > wanted:
        said = f"Minimum capacity {least} can't be greater than desired size {wanted}"
        raise ServiceError("InvalidParameterException", said)
    if wanted > most:
        said = f"desired capacity {wanted} can't be greater than max size {most}"
        raise ServiceError("InvalidParameterException", said)


def create(region: str, name: str, group: Document) -> None:
    """Make the Auto Scaling group of a node group that has a launch template."""
    cluster = group["clusterName"]
    tags = {
        "eks:cluster-name": cluster, "eks:nodegroup-name": group["nodegroupName"],
        f"kubernetes.io/cluster/{cluster}": "owned", "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{cluster}": "owned",
    }  # fmt: skip
    marks = {"ResourceId": name, "ResourceType": "auto-scaling-group", "PropagateAtLaunch": "true"}
    # Moto would launch as many instances as are desired.
    _backend(region).create_auto_scaling_group(
        name=name, availability_zones=[], desired_capacity=0, max_size=0, min_size=0, launch_config_name="",
        launch_template={"LaunchTemplateId": group["launchTemplate"]["id"]},
        vpc_zone_identifier=",".join(group["subnets"]), default_cooldown=None, health_check_period=None,
        health_check_type=None, load_balancers=[], target_group_arns=[], placement_group=None,
        termination_policies=[], tags=[{**marks, "Key": key, "Value": value} for key, value in tags.items()],
    )  # fmt: skip
    resize(region, name, group["scalingConfig"])


def resize(region: str, name: str, sizes: Document) -> None:
    """Set the number of instances that the group reports."""
    if found := _backend(region).autoscaling_groups.get(name):
        found.min_size, found.max_size = sizes["minSize"], sizes["maxSize"]
        found.desired_capacity = sizes["desiredSize"]


def delete(region: str, name: str) -> None:
    """Remove the group."""
    _backend(region).autoscaling_groups.pop(name, None)


def _backend(region: str) -> AutoScalingBackend:
    found: AutoScalingBackend = autoscaling_backends[ACCOUNT][region]
    return found
