"""Whatever kills a playbook, the same command completes what it began."""

from __future__ import annotations

import pytest
from provisioning import CONFIRMED, Site, file_system, kill_at, words

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws


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
