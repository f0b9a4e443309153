"""Playbooks on an AWS on a local port: real Ansible, real Terraform and provider, a directory of the test's."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
import yaml
from terraform_program import ROOT

from ansible_collections.mlops.eks.plugins.module_utils._aws.account import look
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws

Variables = dict[str, t.Any]
# It has the output of the real one, and needs no provider.
STACK = ROOT / "extensions/molecule/eks_cluster/stack"
# The settings of Terraform in a test's directory.
SETTINGS = "terraformrc"


@dataclass(frozen=True)
class Site:
    """A directory with an inventory, and an AWS."""

    directory: Path

    def client(self, service: str, region: str = "us-west-2") -> t.Any:
        """Return boto3's client."""
        return boto3.client(service, region_name=region)

    def use_mirror(self, mirror: Path | None) -> None:
        """Let the program take its providers from a directory; `None` for their registries."""
        text = f'provider_installation {{ filesystem_mirror {{ path = "{mirror}" }} }}\n' if mirror else ""
        (self.directory / SETTINGS).write_text(text, encoding="utf-8")

    def inventory(self, clusters: dict[str, Variables]) -> None:
        """Write the inventory: clusters by name with their host variables."""
        plain = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        hosts = {name: plain | variables for name, variables in clusters.items()}
        document = {"all": {"children": {"clusters": {"children": {"eks": {"hosts": hosts}}}}}}
        (self.directory / "inventory.yml").write_text(yaml.safe_dump(document), encoding="utf-8")

    def backend(self, name: str) -> Variables:
        """Return where a cluster's state is kept: in a bucket that the first play makes."""
        return {"bucket": "mlops-eks-state", "key": f"{name}.tfstate", "region": "us-west-2", "use_path_style": True}

    def start(self, playbook: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a playbook in a session of its own."""
        command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "inventory.yml"]
        return subprocess.Popen(
            [*command, str(ROOT / "playbooks" / playbook), *arguments], cwd=self.directory,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip

    def run(self, playbook: str, *arguments: str, timeout: float = 900) -> tuple[int, str]:
        """Run a playbook; return its code and what it said, and print how long it took: `pytest -rP`."""
        begun = time.monotonic()
        with self.start(playbook, *arguments) as process:
            said, _ = process.communicate(timeout=timeout)
        print(f"{time.monotonic() - begun:4.0f} s  {' '.join((playbook, *arguments))}")
        return process.returncode, said

    def succeed(self, playbook: str, *arguments: str, timeout: float = 900) -> str:
        """Run a playbook, which must succeed; return what it said."""
        code, said = self.run(playbook, *arguments, timeout=timeout)
        assert code == 0, said
        return said

    def fail(self, playbook: str, *arguments: str) -> str:
        """Run a playbook, which must fail; return what it said."""
        code, said = self.run(playbook, *arguments)
        assert code == 2, said
        return said


# The clusters of the fake EKS have no API server behind their endpoint.
CONFIRMED = ("-e", "confirm_destroy=demo", "-e", "teardown_without_api=true")
# Without FSx: the provider waits for ten minutes before it looks whether a file system is gone.
REAL: Variables = {"network": {"availability_zones": ["us-west-2a", "us-west-2b"]}}


def host(variables: Variables = REAL, **more: t.Any) -> Variables:
    """Return the host variables of a cluster of the real stack, which is not looked at before: that takes seconds."""
    return {"region": "us-west-2", "eks_cluster_variables": variables, "eks_cluster_preflight": False, **more}


def small_host(site: Site, *, preflight: bool = False, **variables: t.Any) -> Variables:
    """Return the host variables of a cluster of the small stack, with its state in a bucket that is not there yet."""
    how = {"eks_cluster_source": str(STACK), "eks_cluster_backend": site.backend("demo")}
    return host({"kubernetes_version": "1.35", **variables}, eks_cluster_preflight=preflight, **how)


def file_system(site: Site, path: str) -> Variables:
    """Make a Lustre file system, of which one directory is exported, as the real stack would."""
    fsx, tags = site.client("fsx"), [{"Key": "mlops.eks/cluster", "Value": "demo"}]
    subnet = site.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    lustre = {"DeploymentType": "SCRATCH_2"}
    asked = {"FileSystemType": "LUSTRE", "SubnetIds": [subnet], "StorageCapacity": 1200, "LustreConfiguration": lustre}
    made: Variables = fsx.create_file_system(**asked, Tags=tags)["FileSystem"]
    policy = {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    where = {"FileSystemPath": path, "DataRepositoryPath": "s3://mlops-eks-data/runs"}
    fsx.create_data_repository_association(FileSystemId=made["FileSystemId"], S3=policy, **where)
    return made


def volume(site: Site) -> str:
    """Make a volume as the EBS driver would."""
    tags = [{"ResourceType": "volume", "Tags": [{"Key": "kubernetes.io/cluster/demo", "Value": "owned"}]}]
    made = site.client("ec2").create_volume(AvailabilityZone="us-west-2a", Size=1, TagSpecifications=tags)
    return str(made["VolumeId"])


def log_in(directory: Path, name: str, user: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `aws eks get-token` hand out the certificate of the cluster's administrator."""
    keys = {"clientCertificateData": "client-certificate-data", "clientKeyData": "client-key-data"}
    status = {name: base64.b64decode(user[key]).decode() for name, key in keys.items()}
    credential = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": status}
    (directory / "token.json").write_text(json.dumps(credential))
    program = directory / "bin/aws"
    program.parent.mkdir()
    wanted = f"eks get-token --cluster-name {name} --region us-west-2"
    program.write_text(f'#!/bin/sh\ncase "$*" in "{wanted}"*) exec cat {directory}/token.json ;; esac; exit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def kill_at(process: subprocess.Popen[str], word: str) -> None:
    """Kill a playbook, not its children, when it says a word."""
    said = ""
    assert process.stdout
    for line in process.stdout:
        said += line
        if word in line:
            os.kill(process.pid, signal.SIGKILL)
            break
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL, said


def leftovers(name: str = "demo", region: str = "us-west-2") -> list[str]:
    """Return the kinds of which the AWS still has something of a cluster."""
    seen = look(Aws(region=region), name)
    assert seen.unknown == {}
    return sorted({entry.kind.name for entry in seen.found})


def recap(said: str) -> dict[str, int]:
    """Return how many tasks changed something, by host."""
    found = re.findall(r"^(\S+)\s*: ok=\d+\s+changed=(\d+)", said, re.MULTILINE)
    return {host: int(count) for host, count in found if host != "localhost"}


def words(said: str) -> str:
    """Return what was said on one line, for sentences that Ansible breaks."""
    return " ".join(said.split())
