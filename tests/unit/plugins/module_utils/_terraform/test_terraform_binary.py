from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.binary import environment, find_binary


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with nothing on it but what a test puts there, and what a script needs."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("MLOPS_EKS_TERRAFORM", raising=False)


def program(tmp_path: Path, name: str, version: str) -> Path:
    path = tmp_path / "bin" / name
    brand = "OpenTofu" if name == "tofu" else "Terraform"
    path.write_text(f"#!/bin/sh\necho\necho Warning: of something\necho '{brand} v{version}'\necho on linux_amd64\n")
    path.chmod(0o755)
    return path


def test_terraform_comes_before_tofu(tmp_path: Path) -> None:
    tofu = program(tmp_path, "tofu", "1.10.3")
    assert find_binary(None, {}) == (str(tofu), "1.10.3", "OpenTofu")
    terraform = program(tmp_path, "terraform", "1.11.4")
    assert find_binary(None, {}) == (str(terraform), "1.11.4", "Terraform")
    assert find_binary("tofu", {}) == (str(tofu), "1.10.3", "OpenTofu")


def test_the_environment_may_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "terraform", "1.11.4")
    monkeypatch.setenv("MLOPS_EKS_TERRAFORM", str(program(tmp_path, "mine", "1.14.0-beta1")))
    assert find_binary(None, {}).version == "1.14.0-beta1"


def test_a_missing_binary_is_refused() -> None:
    with pytest.raises(MissingToolError, match=r"terraform or tofu: not found on PATH\. Install .* 1\.10 or newer"):
        find_binary(None, {})
    with pytest.raises(MissingToolError, match=r"/no/such: not found"):
        find_binary("/no/such", {})


def test_an_old_version_or_another_program_is_refused(tmp_path: Path) -> None:
    path = program(tmp_path, "terraform", "1.9.8")
    with pytest.raises(MissingToolError, match=r"is version 1\.9\.8; 1\.10 or newer is needed"):
        find_binary(None, {})
    path.write_text("#!/bin/sh\necho 'Terragrunt version v0.80.0'\n")
    with pytest.raises(MissingToolError, match=r"neither Terraform nor OpenTofu: it calls itself 'Terragrunt version"):
        find_binary(None, {})


def test_the_environment_asks_nothing_and_keeps_what_the_user_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CLI_ARGS_apply", "-parallelism=1")
    monkeypatch.setenv("TF_WORKSPACE", "other")
    monkeypatch.setenv("TF_PLUGIN_CACHE_DIR", "/mine")
    found = environment(Path("/data"), {"AWS_PROFILE": "ml", "AWS_MAX_ATTEMPTS": 3})
    assert found["TF_DATA_DIR"] == "/data/.terraform"
    assert (found["TF_PLUGIN_CACHE_DIR"], found["TF_INPUT"]) == ("/mine", "0")
    assert (found["AWS_PROFILE"], found["AWS_MAX_ATTEMPTS"]) == ("ml", "3")
    assert not {"TF_CLI_ARGS_apply", "TF_WORKSPACE"} & found.keys()
