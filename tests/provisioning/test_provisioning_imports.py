"""What was made and is in no state is imported, whatever its type: real Terraform, the real stack, and an AWS."""

from __future__ import annotations

import json
import re
import subprocess
import typing as t

import pytest
from applied import blocks
from provisioning import CONFIRMED, Site, host, leftovers, recap
from test_provisioning_whole import EVERYTHING, FSX

from ansible_collections.mlops.eks.plugins.module_utils._terraform.imports import COMPOSED, import_name

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws

Resources = dict[str, dict[str, t.Any]]


def test_every_type_is_imported_by_its_name_and_then_as_it_shall_be(site: Site) -> None:
    site.inventory({"demo": host(EVERYTHING | {"fsx": {"fsx": FSX["fsx"]}})})
    site.succeed("cluster.yml", timeout=1800)
    made = in_state(site)
    lost = {entry["type"]: entry for entry in reversed(made.values())}
    assert set(lost) == {block.type for block in blocks()}
    names = {
        entry["address"]: import_name(entry["type"], entry["values"]["id"], entry["values"]) for entry in lost.values()
    }
    by_hand(site, "state", "rm", *names)
    # One plan instead of forty runs of `terraform import`: what the provider makes of a name is the same.
    (work,) = (site.directory / "clusters/demo/terraform/tree").glob("stacks/cluster")
    file = work / "imports.tf"
    wanted = (f"import {{\n  to = {address}\n  id = {json.dumps(name.text)}\n}}\n" for address, name in names.items())
    file.write_text("".join(wanted), encoding="utf-8")
    by_hand(site, "plan", "-input=false", "-out=imports.tfplan")
    plan = json.loads(by_hand(site, "show", "-json", "imports.tfplan"))
    found = {entry["address"]: entry["change"] for entry in plan["resource_changes"] if entry["mode"] == "managed"}
    assert {address for address, change in found.items() if change.get("importing")} == set(names)
    assert {a: c["actions"] for a, c in found.items() if c["actions"] not in (["no-op"], ["update"])} == {}
    by_hand(site, "apply", "-input=false", "imports.tfplan")
    file.unlink()

    _is_imported(site, {entry["address"] for entry in lost.values() if entry["type"] in COMPOSED})


def _is_imported(site: Site, composed: set[str]) -> None:
    """Lose what is imported by attributes, and of one what the attributes are of."""
    tables = {address for address in in_state(site) if ".aws_route_table.public" in address}
    lose(site, composed | tables)
    said = site.succeed("cluster.yml", timeout=1800)
    assert set(re.findall(r"importing (\S+) \(", said)) == composed | tables
    assert "to create" not in said
    assert recap(site.succeed("cluster.yml")) == {"demo": 0}


def test_what_is_in_no_state_is_destroyed_too(site: Site) -> None:
    site.inventory({"demo": host()})
    site.succeed("cluster.yml")
    lost = {address for address in in_state(site) if ".aws_route" in address or ".aws_eks_pod_identity" in address}
    lose(site, lost)
    said = site.succeed("teardown.yml", *CONFIRMED)
    assert set(re.findall(r"importing (\S+) \(", said)) == lost
    assert lost <= set(re.findall(r"destroyed (\S+)", said))
    assert leftovers() == []


def lose(site: Site, addresses: set[str]) -> None:
    """Leave state and record as a Terraform does that is killed before it could write what it made."""
    by_hand(site, "state", "rm", *addresses)
    (site.directory / "clusters/demo/terraform/apply.jsonl.process").write_text("ended 137\n", encoding="utf-8")


def in_state(site: Site) -> Resources:
    """Return the resources of the state by address."""
    found: Resources = {}
    modules = [json.loads(by_hand(site, "show", "-json"))["values"]["root_module"]]
    for module in modules:
        modules += module.get("child_modules", ())
        found |= {entry["address"]: entry for entry in module.get("resources", ()) if entry["mode"] == "managed"}
    return found


def by_hand(site: Site, *arguments: str) -> str:
    """Return what Terraform says in the cluster's directory."""
    script = site.directory / "clusters/demo/terraform/run"
    done = subprocess.run([str(script), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
