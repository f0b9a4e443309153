from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._terraform import worktree

OVERRIDE = "mlops_eks_override.tf.json"


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """A stack that uses a module two directories up."""
    source = tmp_path / "terraform" / "stacks" / "cluster"
    source.mkdir(parents=True)
    (source / "main.tf").write_text('variable "name" {}\nmodule "efs" {\n  source = "../../modules/efs"\n}\n')
    (tmp_path / "terraform" / "modules" / "efs").mkdir(parents=True)
    (tmp_path / "terraform" / "modules" / "efs" / "main.tf").touch()
    return source


def test_paths_upwards_lead_to_the_same_files(stack: Path, tmp_path: Path) -> None:
    work = worktree.prepare(stack, tmp_path / "data", None)
    assert work == tmp_path / "data" / "tree" / "stacks" / "cluster"
    assert (work / "main.tf").resolve() == stack / "main.tf"
    assert (work / "../../modules/efs/main.tf").resolve() == tmp_path / "terraform/modules/efs/main.tf"


def test_a_stack_without_modules_is_linked_alone(tmp_path: Path) -> None:
    source = tmp_path / "stack"
    source.mkdir()
    (source / "main.tf").touch()
    assert worktree.prepare(source, tmp_path / "data", None) == tmp_path / "data" / "tree"


def test_what_somebody_left_there_is_not_taken_over(stack: Path, tmp_path: Path) -> None:
    for name in ("terraform.tfstate", "terraform.tfstate.backup", ".terraform.tfstate.lock.info"):
        (stack / name).touch()
    (stack / ".terraform").mkdir()
    work = worktree.prepare(stack, tmp_path / "data", None)
    assert sorted(entry.name for entry in work.iterdir()) == ["main.tf", OVERRIDE]


def test_tests_of_the_stack_are_left_out(stack: Path, tmp_path: Path) -> None:
    (stack / "tests").mkdir()
    (stack / "more.tftest.hcl").touch()
    work = worktree.prepare(stack, tmp_path / "data", None)
    assert sorted(entry.name for entry in work.iterdir()) == ["main.tf", OVERRIDE]


def test_files_that_are_gone_from_the_stack_go(stack: Path, tmp_path: Path) -> None:
    (stack / "old.tf").touch()
    work = worktree.prepare(stack, tmp_path / "data", None)
    (work / "errored.tfstate").write_text("{}")
    (stack / "old.tf").unlink()
    (stack / "new.tf").touch()
    assert worktree.prepare(stack, tmp_path / "data", None) == work
    assert sorted(entry.name for entry in work.iterdir()) == ["errored.tfstate", "main.tf", OVERRIDE, "new.tf"]


@pytest.mark.parametrize(
    ("given", "block"),
    [
        (None, {"local": {"path": "DATA/terraform.tfstate"}}),
        ({"bucket": "b"}, {"s3": {"use_lockfile": True, "encrypt": True, "bucket": "b"}}),
        ({"type": "s3", "use_lockfile": False}, {"s3": {"use_lockfile": False, "encrypt": True}}),
        ({"type": "http", "address": "http://x"}, {"http": {"address": "http://x"}}),
    ],
)
def test_the_backend_is_written_beside_the_stack(
    given: dict[str, str] | None, block: dict[str, dict[str, str]], stack: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    override = worktree.prepare(stack, data, given) / OVERRIDE
    wanted = json.loads(json.dumps(block).replace("DATA", str(data)))
    assert json.loads(override.read_text()) == {"terraform": {"backend": wanted}}
    assert override.stat().st_mode & 0o777 == 0o600


def test_the_own_backend_of_a_stack_is_left_alone(stack: Path, tmp_path: Path) -> None:
    (stack / "backend.tf").write_text('terraform {\n  backend "s3" {}\n}\n')
    worktree.prepare(stack, tmp_path / "data", {"bucket": "b"})
    assert not (worktree.prepare(stack, tmp_path / "data", None) / OVERRIDE).exists()


def test_a_misspelt_variable_is_refused(stack: Path) -> None:
    worktree.check_variables(stack, {"name": "x"})
    with pytest.raises(InvalidInputError, match=r"declares no variable 'nmae'\. Did you mean 'name'\?"):
        worktree.check_variables(stack, {"nmae": "x"})


def test_variables_declared_in_json_are_left_to_terraform(stack: Path) -> None:
    (stack / "more.tf.json").write_text('{\n  "variable": {"zone": {}}\n}')
    worktree.check_variables(stack, {"zone": "x"})


def test_a_directory_that_is_no_stack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no Terraform file"):
        worktree.check_source(tmp_path)
    with pytest.raises(InvalidInputError, match="there is no such directory"):
        worktree.check_source(tmp_path / "no")
