"""What a teardown refuses: nothing is lost, and nothing that is left is called gone."""

from __future__ import annotations

import pytest
from provisioning import CONFIRMED, Site, file_system, leftovers, recap, words

# Slow: `make test-aws`.
pytestmark = pytest.mark.aws


def test_files_and_leftovers_stand_in_the_way(small: Site) -> None:
    small.succeed("cluster.yml")
    made, fsx, discard = file_system(small, "/data"), small.client("fsx"), ("-e", "teardown_discard_unexported=true")
    # Whoever only looks is told all at once, and does not fail.
    said = small.succeed("teardown.yml", "--check")
    assert recap(said)["demo"] > 0
    told = words(said).partition("cluster demo: a real run would refuse")[2]
    assert "To remove it, add: -e confirm_destroy=demo" in told
    assert "nothing outside of /data is exported to S3 and would be lost" in told
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


def test_a_cluster_that_does_not_answer_is_refused_by_a_real_run_and_told_by_a_look(small: Site) -> None:
    small.succeed("cluster.yml")
    subnet = small.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    role, tags = "arn:aws:iam::123456789012:role/demo", {"mlops.eks/cluster": "demo"}
    small.client("eks").create_cluster(name="demo", roleArn=role, resourcesVpcConfig={"subnetIds": [subnet]}, tags=tags)
    confirmed = ("-e", "confirm_destroy=demo")
    told = words(small.succeed("teardown.yml", "--check", *confirmed)).partition("a real run would refuse")[2]
    assert "-e teardown_without_api=true" in told
    assert "-e teardown_without_api=true" in words(small.fail("teardown.yml", *confirmed))
    assert "a real run would begin" in words(small.succeed("teardown.yml", "--check", *CONFIRMED))
