"""A cluster comes and goes by its playbooks: with a small stack, on an AWS on a local port."""

from __future__ import annotations

import yaml
from provisioning import CONFIRMED, Site, file_system, leftovers, recap, volume, words


def test_a_cluster_comes_and_goes(small: Site) -> None:
    # What was never made need not be confirmed, and has no state to ask.
    assert recap(small.succeed("teardown.yml")) == {"demo": 0}
    assert small.client("s3").list_buckets()["Buckets"] == []
    assert "create   terraform_data.cluster" in small.succeed("cluster.yml", "--check")
    assert small.client("s3").list_buckets()["Buckets"] == []
    assert list((small.directory / "clusters/demo").iterdir()) == []
    small.succeed("cluster.yml")
    bucket = {"Bucket": "mlops-eks-state"}
    assert small.client("s3").get_bucket_versioning(**bucket)["Status"] == "Enabled"
    assert all(small.client("s3").get_public_access_block(**bucket)["PublicAccessBlockConfiguration"].values())
    assert (small.directory / "clusters/demo/kubeconfig").stat().st_mode & 0o777 == 0o600
    handed = yaml.safe_load((small.directory / "clusters/demo/host_vars.yml").read_text(encoding="utf-8"))
    assert handed["kubeconfig"] == str(small.directory / "clusters/demo/kubeconfig")
    assert recap(small.succeed("cluster.yml")) == {"demo": 0}

    system, disk = file_system(small, "/"), volume(small)
    said = small.fail("teardown.yml")
    assert "1 to destroy. To remove it, add: -e confirm_destroy=demo" in words(said)
    assert recap(said) == {"demo": 0}
    assert leftovers() == ["EBS volume", "FSx file system"]

    said = small.succeed("teardown.yml", "--check")
    assert "destroy  terraform_data.cluster" in said
    assert f"would export file system {system['FileSystemId']}" in words(said)
    assert "cluster demo: a real run would refuse: - this would remove cluster demo" in words(said)
    assert "cluster demo: a real run would begin" in words(small.succeed("teardown.yml", "--check", *CONFIRMED))

    # The small stack knows nothing of the file system, so it is left in the end, exported.
    said = words(small.fail("teardown.yml", *CONFIRMED, "-e", "teardown_settle=0"))
    assert "4 files exported, none failed" in said
    assert "destroyed terraform_data.cluster" in said
    assert f"removed EBS volume {disk}" in said
    number = system["FileSystemId"]
    assert f"aws fsx delete-file-system --file-system-id {number} --region us-west-2" in said
    assert not (small.directory / "clusters/demo/kubeconfig").exists()

    small.client("fsx").delete_file_system(FileSystemId=number)
    assert recap(small.succeed("teardown.yml", *CONFIRMED)) == {"demo": 0}
