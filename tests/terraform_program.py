"""Terraform for tests: the program, the provider, and a directory to run in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fakes.go import go_program

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "terraform/stacks/cluster/.terraform.lock.hcl"
# Where a machine that does not ask the registry keeps providers: Terraform's own places, and those of packagers.
MIRRORS = ("~/.terraform.d/plugins", "/usr/local/share/terraform/plugins", "/usr/share/terraform/*", "/opt/*")


@dataclass(frozen=True)
class Terraform:
    """The program, and a directory in which to run it."""

    program: str
    directory: Path
    environment: dict[str, str]
    mirror: Path | None

    def at(self, directory: str, **environment: str) -> Terraform:
        """Return the same program in another directory, with more in its environment."""
        return replace(
            self, directory=(self.directory / directory).resolve(), environment=self.environment | environment
        )

    def run(self, *arguments: str, timeout: float = 1800) -> subprocess.CompletedProcess[str]:
        """Run the program and return what it said."""
        return subprocess.run(
            [self.program, *arguments], cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=timeout,
        )  # fmt: skip

    def succeed(self, *arguments: str, timeout: float = 1800) -> str:
        """Run the program, which must succeed, and return what it said."""
        done = self.run(*arguments, timeout=timeout)
        assert done.returncode == 0, f"terraform {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}"
        return done.stdout

    def init(self, *arguments: str) -> None:
        """Find the provider, in a mirror where there is one."""
        mirror = [f"-plugin-dir={self.mirror}"] if self.mirror else []
        done = self.run("init", "-input=false", *mirror, *arguments)
        if done.returncode != 0:
            pytest.fail(
                f"terraform init failed in {self.directory}; if it found no provider, let it reach the registry, or "
                f"name a directory that holds registry.terraform.io/hashicorp/aws by MLOPS_EKS_TERRAFORM_MIRROR\n"
                f"{done.stdout}"
            )


def locked_version() -> str:
    """Return the version of the provider that the stack is locked to."""
    found = re.search(r'version\s*=\s*"([^"]+)"', LOCK.read_text(encoding="utf-8"))
    assert found, LOCK
    return found[1]


def find_program(name: str) -> str:
    """Return the path of `terraform`, which must be there, or of `tofu`, which is built by tools/tofu."""
    if name == "tofu":
        return go_program(name)
    found = os.environ.get("MLOPS_EKS_TERRAFORM") or shutil.which(name)
    if not found:
        pytest.fail("terraform is not on PATH: install Terraform 1.11 or newer, or name it by MLOPS_EKS_TERRAFORM")
    return found


def opentofu_mirror(directory: Path) -> Path | None:
    """Make `directory` what OpenTofu looks for providers in: those of Terraform's mirror, under OpenTofu's own host."""
    mirror = find_mirror()
    if mirror is None:
        return None
    for platform in (mirror / "registry.terraform.io").glob("*/*/*/*"):
        link = directory / "registry.opentofu.org" / platform.relative_to(mirror / "registry.terraform.io")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(platform)
    return directory


def find_mirror() -> Path | None:
    """Return the first directory of providers that holds the locked one; without any, Terraform asks the registry."""
    given = os.environ.get("MLOPS_EKS_TERRAFORM_MIRROR")
    if given:
        return Path(given)
    wanted = f"registry.terraform.io/hashicorp/aws/{locked_version()}"
    for pattern in MIRRORS:
        place = Path(pattern).expanduser()
        for mirror in sorted(place.parent.glob(place.name)) if place.parent.is_dir() else ():
            if (mirror / wanted).is_dir():
                return mirror
    return None
