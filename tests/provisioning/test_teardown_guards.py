"""What a teardown refuses: nothing is lost, and nothing that is left is called gone."""

from __future__ import annotations

import pytest
from provisioning import CONFIRMED, Site, file_system, leftovers, words

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws


def test_files_and_leftovers_stand_in_the_way(small: Site) -> None:
    small.succeed("cluster.yml")
    made, fsx, discard = file_system(small, "/data"), small.client("fsx"), ("-e", "teardown_discard_unexported=true")
    said = words(small.fail("teardown.yml", *CONFIRMED))
    assert "nothing outside of /data is exported to S3 and would be lost" in said
    failing = {"Key": "test/failing-files", "Value": "2"}
    fsx.tag_resource(ResourceARN=made["ResourceARN"], Tags=[failing])
    assert "2 files failed" in words(small.fail("teardown.yml", *CONFIRMED, *discard))
    assert (small.directory / "clusters/demo/kubeconfig").exists()
    fsx.delete_file_system(FileSystemId=made["FileSystemId"])

    queue = small.client("sqs").create_queue(QueueName="demo-forgotten", tags={"mlops.eks/cluster": "demo"})["QueueUrl"]
    said = words(small.fail("teardown.yml", *CONFIRMED, "-e", "teardown_settle=0"))
    assert "demo-forgotten --region us-west-2" in said
    assert leftovers() == ["SQS queue"]
    small.client("sqs").delete_queue(QueueUrl=queue)
    small.succeed("teardown.yml", *CONFIRMED)
