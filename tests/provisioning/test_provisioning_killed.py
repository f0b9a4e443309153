"""Whatever kills a playbook, the same command completes what it began."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from provisioning import CONFIRMED, Site, file_system, host, kill_at, leftovers, recap, words

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws


def test_killed_again_and_again_while_making_and_while_destroying(site: Site) -> None:
    site.inventory({"demo": host()})
    # The second is killed while it follows what the first left at work.
    for word in ("created module.network[0].aws_subnet", "left Terraform running"):
        kill_at(site.start("cluster.yml"), word)
    site.succeed("cluster.yml")
    assert recap(site.succeed("cluster.yml")) == {"demo": 0}

    kill_at(site.start("teardown.yml", *CONFIRMED), "destroyed module.")
    site.succeed("teardown.yml", *CONFIRMED)
    assert leftovers() == []
    assert recap(site.succeed("teardown.yml", *CONFIRMED)) == {"demo": 0}


def test_what_exists_and_is_in_no_state_is_named_with_its_remedy(site: Site) -> None:
    group = {"logGroupName": "/aws/eks/demo/cluster"}
    site.inventory({"demo": host()})
    site.client("logs").create_log_group(**group)
    said = words(site.fail("cluster.yml"))
    command, _, rest = said.partition("take it over: ")[2].partition(" ID. ")
    assert command.endswith("/run import 'module.cluster.aws_cloudwatch_log_group.control_plane[\"this\"]'")
    assert f"In the account, and not in the state: log group {group['logGroupName']}" in rest
    subprocess.run([*shlex.split(command), group["logGroupName"]], check=True, capture_output=True)
    site.succeed("cluster.yml")
    site.succeed("teardown.yml", *CONFIRMED)
    assert leftovers() == []


def test_killed_in_the_middle_of_an_export(small: Site) -> None:
    small.succeed("cluster.yml")
    number = file_system(small, "/")["FileSystemId"]
    kill_at(small.start("teardown.yml", *CONFIRMED), "export pending")
    # The file system is not of the small stack, so it is left in the end.
    said = words(small.fail("teardown.yml", *CONFIRMED, "-e", "teardown_settle=0"))
    assert "follows the export" in said
    assert len(small.client("fsx").describe_data_repository_tasks()["DataRepositoryTasks"]) == 1
    small.client("fsx").delete_file_system(FileSystemId=number)
    small.succeed("teardown.yml", *CONFIRMED)
