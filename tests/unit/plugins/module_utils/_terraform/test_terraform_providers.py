from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._terraform.providers import LOCK, pin

HEAD = "# Maintained automatically.\n"
ENTRY = """
provider "{host}/hashicorp/aws" {{
  version     = "{version}"
  constraints = "~> 5.100"
{hashes}}}
"""
HASHES = '  hashes = [\n    "h1:one=",\n    "zh:two",\n  ]\n'
OTHER = """
provider "registry.example.org/acme/thing" {
  version = "1.0.0"
  hashes = [
    "h1:three=",
  ]
}
"""


def locked(host: str, version: str = "5.100.0", hashes: str = HASHES) -> str:
    return HEAD + ENTRY.format(host=host, version=version, hashes=hashes) + OTHER


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return directory(tmp_path / "stack", locked("registry.terraform.io"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return directory(tmp_path / "work")


def directory(path: Path, lock: str = "") -> Path:
    path.mkdir()
    if lock:
        (path / LOCK).write_text(lock)
    return path


def test_the_program_that_wrote_a_lock_file_must_leave_it_as_it_is(source: Path, work: Path) -> None:
    assert pin(source, work, "Terraform") is True
    assert (work / LOCK).read_text() == (source / LOCK).read_text()
    assert not (work / LOCK).is_symlink()
    (work / LOCK).write_text("changed by hand")
    assert pin(source, work, "Terraform") is True
    assert (work / LOCK).read_text() == (source / LOCK).read_text()


@pytest.mark.parametrize(
    ("theirs", "brand", "ours"),
    [
        ("registry.terraform.io", "OpenTofu", "registry.opentofu.org"),
        ("registry.opentofu.org", "Terraform", "registry.terraform.io"),
    ],
)
def test_the_other_program_takes_its_versions(theirs: str, brand: str, ours: str, tmp_path: Path, work: Path) -> None:
    assert pin(directory(tmp_path / "stack", locked(theirs)), work, brand) is False
    assert (work / LOCK).read_text() == locked(ours, hashes="")


def test_hashes_of_the_first_run_are_kept_until_the_stack_names_another_version(source: Path, work: Path) -> None:
    pin(source, work, "OpenTofu")
    seen = locked("registry.opentofu.org", hashes='  hashes = [\n    "h1:own=",\n  ]\n')
    (work / LOCK).write_text(seen)
    assert pin(source, work, "OpenTofu") is False
    assert (work / LOCK).read_text() == seen
    (source / LOCK).write_text(locked("registry.terraform.io", "5.101.0"))
    pin(source, work, "OpenTofu")
    assert (work / LOCK).read_text() == locked("registry.opentofu.org", "5.101.0", hashes="")


def test_a_stack_without_a_lock_file_leaves_the_clusters_own(tmp_path: Path, work: Path) -> None:
    (work / LOCK).write_text("own")
    assert pin(directory(tmp_path / "stack"), work, "Terraform") is False
    assert (work / LOCK).read_text() == "own"
