"""The inventory plugin by `ansible-inventory`, asking moto's server as it would ask AWS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
import yaml
from moto.server import ThreadedMotoServer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]
# Name, region, tags.
CLUSTERS = [
    ("train", "us-west-2", {"purpose": "training", "mlops.eks/cluster": "train"}),
    ("train", "us-east-1", {"purpose": "training"}),
    ("serve", "us-west-2", {"purpose": "serving"}),
    ("web", "us-west-2", {}),
]


class Run(t.NamedTuple):
    """What ansible-inventory answered."""

    rc: int
    hosts: dict[str, dict[str, t.Any]]
    groups: dict[str, t.Any]
    said: str


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    """The address of a moto server with some clusters."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    for name, region, tags in CLUSTERS:
        client = boto3.client(
            "eks", region, endpoint_url=address, aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        vpc = {"subnetIds": ["subnet-1", "subnet-2"]}
        client.create_cluster(
            name=name, version="1.35", roleArn="arn:aws:iam::123456789012:role/x", resourcesVpcConfig=vpc, tags=tags
        )
    yield address
    server.stop()


@pytest.fixture
def inventory(aws: str, tmp_path: Path) -> t.Callable[..., Run]:
    """Read an inventory file with the given options."""
    profiles = "[profile one]\nregion = us-west-2\n[profile two]\nregion = us-east-1\n"
    (tmp_path / "config").write_text(profiles)
    keys = "aws_access_key_id = testing\naws_secret_access_key = testing\n"
    (tmp_path / "credentials").write_text(f"[default]\n{keys}[one]\n{keys}[two]\n{keys}")
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("AWS_")},
        "AWS_ENDPOINT_URL": aws,
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "ANSIBLE_NOCOLOR": "1",
    }

    def read(name: str = "aws_eks.yml", environ: dict[str, str] | None = None, **options: t.Any) -> Run:
        file = tmp_path / name
        file.write_text(yaml.safe_dump({"plugin": "mlops.eks.clusters", **options}))
        program = str(Path(sys.executable).parent / "ansible-inventory")
        done = subprocess.run(
            [program, "-i", str(file), "--list"],
            cwd=ROOT,
            env=environment | (environ or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        found = _plain(json.loads(done.stdout)) if done.returncode == 0 else {}
        hosts = found.get("_meta", {}).get("hostvars", {})
        return Run(done.returncode, hosts, found, " ".join(done.stderr.split()))

    return read


def _plain(value: t.Any) -> t.Any:
    """Return what ansible-inventory wrote without its marks on texts that are no templates."""
    if isinstance(value, dict):
        return value.get("__ansible_unsafe") or {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


Inventory = t.Callable[..., Run]
BOTH = ["us-west-2", "us-east-1"]


def test_a_cluster_is_a_host_with_its_variables(inventory: Inventory) -> None:
    found = inventory(profiles=["one"], tags={"purpose": ["training", "none"]})
    ((name, variables),) = found.hosts.items()
    assert name == "train"
    assert variables["ansible_connection"] == "local"
    assert variables["region"] == "us-west-2"
    assert variables["aws_profile"] == "one"
    assert variables["aws_account_id"] == "123456789012"
    assert variables["cluster_name"] == "train"
    assert variables["cluster_version"] == "1.35"
    assert variables["cluster_endpoint"].startswith("https://")
    assert variables["cluster_tags"]["mlops.eks/cluster"] == "train"
    assert variables["kubeconfig"] == "clusters/train/kubeconfig"
    assert found.groups["eks"]["hosts"] == ["train"]
    assert found.groups["clusters"]["children"] == ["eks"]


def test_regions_and_groups(inventory: Inventory) -> None:
    found = inventory(
        regions=BOTH,
        hostname="cluster_name ~ '-' ~ region",
        keyed_groups=[{"key": "region", "prefix": "region"}, {"key": "cluster_tags.purpose", "separator": ""}],
        compose={"kube_namespace": "'team-' ~ cluster_name"},
        groups={"west": "'west' in region"},
        clusters_dir="made",
    )
    assert sorted(found.hosts) == ["serve-us-west-2", "train-us-east-1", "train-us-west-2", "web-us-west-2"]
    assert sorted(found.groups["training"]["hosts"]) == ["train-us-east-1", "train-us-west-2"]
    assert found.groups["region_us_east_1"]["hosts"] == ["train-us-east-1"]
    assert sorted(found.groups["west"]["hosts"]) == ["serve-us-west-2", "train-us-west-2", "web-us-west-2"]
    assert found.hosts["web-us-west-2"]["kube_namespace"] == "team-web"
    assert found.hosts["web-us-west-2"]["kubeconfig"] == "made/web-us-west-2/kubeconfig"
    assert "aws_profile" not in found.hosts["web-us-west-2"]


def test_each_profile_has_its_own_region(inventory: Inventory) -> None:
    found = inventory(profiles=["one", "two"], tags={"purpose": "training"}, hostname="aws_profile")
    assert {name: host["region"] for name, host in found.hosts.items()} == {"one": "us-west-2", "two": "us-east-1"}


def test_two_of_one_name_are_refused(inventory: Inventory) -> None:
    refused = inventory(regions=BOTH)
    assert refused.rc != 0
    assert "train (us-west-2) and train (us-east-1) would both be the host train: tell them apart" in refused.said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hostname": "cluster_nam"}, "hostname 'cluster_nam': "),
        ({"compose": {"x": "nothing.there"}, "strict": True, "profiles": ["one"]}, "Could not set x"),
        ({"profiles": ["nope"]}, "profile nope, no region: The config profile (nope) could not be found"),
        ({"statuses": ["BUSY"]}, "BUSY"),
        ({}, "regions: none is given, and the environment has none of its own"),
    ],
)
def test_a_mistake_is_told(options: dict[str, t.Any], said: str, inventory: Inventory) -> None:
    refused = inventory(**({"regions": ["us-west-2"]} if "hostname" in options else {}), **options)
    assert refused.rc != 0
    assert said in refused.said


def test_a_place_that_cannot_be_asked_fails_unless_it_may_be_skipped(inventory: Inventory) -> None:
    # Nothing listens there for the region that is asked second.
    away = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}
    refused = inventory(environ=away, regions=["us-west-2"])
    assert refused.rc != 0
    assert "default credentials, us-west-2: eks list_clusters in us-west-2: " in refused.said
    skipped = inventory(environ=away, regions=["us-west-2"], skip_unavailable=True)
    assert skipped.rc == 0
    assert skipped.hosts == {}
    assert "going on without it" in skipped.said


def test_the_cache_answers_when_aws_does_not(inventory: Inventory, tmp_path: Path) -> None:
    cache = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(tmp_path / "cache")}
    first = inventory(profiles=["one"], **cache)
    assert len(first.hosts) == 3
    second = inventory(environ={"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, profiles=["one"], **cache)
    assert second.hosts == first.hosts


def test_a_file_of_another_name_is_not_read(inventory: Inventory) -> None:
    refused = inventory(name="clusters.yml", regions=["us-west-2"])
    assert refused.rc != 0
