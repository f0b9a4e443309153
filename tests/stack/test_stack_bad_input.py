"""What is wrong is said in one line, with its place and its remedy, and nothing is changed."""

from __future__ import annotations

import pytest
from stacks import Stack


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"szie": 2}, "declares no variable 'szie'. Did you mean 'size'?"),
        ({"size": "many"}, "a number is required (variables.size)."),
    ],
)
def test_a_bad_variable(variables: dict[str, str], said: str, stack: Stack) -> None:
    stack.variables = variables
    assert said in stack.refused()
    assert not (stack.data / "terraform.tfstate").exists()


def test_a_mistake_in_the_stack_names_its_file_and_line(stack: Stack) -> None:
    file = stack.source / "main.tf"
    text = file.read_text() + 'resource "terraform_data" "more" { inptu = 1 }\n'
    file.write_text(text)
    message = stack.refused()
    assert 'Unsupported argument: An argument named "inptu" is not expected here' in message
    assert f"({file}:{len(text.splitlines())})" in message


def test_a_mistake_in_a_module_names_its_file_too(stack: Stack) -> None:
    file = stack.source.parents[1] / "modules" / "network" / "main.tf"
    file.write_text(file.read_text() + "output {}\n")
    assert f"({file}:4)" in stack.refused()


def test_a_failing_resource_is_named(stack: Stack) -> None:
    stack.variables = {"command": "echo no such role >&2; exit 3"}
    assert "terraform_data.cluster: local-exec provisioner error" in stack.refused()
    # What was made stays; the next run goes on, and what never was complete is made anew without asking.
    stack.variables = {}
    stack.arguments["protected"] = ["terraform_data"]
    assert stack.run().lines[-1].startswith("[3/3] created ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"source": "/no/such"}, "source /no/such: there is no such directory"),
        ({"binary": "/no/such/tofu"}, "/no/such/tofu: not found"),
        ({"backend": {"type": "http", "address": "http://127.0.0.1:1/"}}, " init: "),
        ({"backend": {"type": "nosuch"}}, "nosuch"),
    ],
)
def test_bad_arguments(arguments: dict[str, str], said: str, stack: Stack) -> None:
    assert said in stack.refused(**arguments)


def test_a_backend_that_moved_is_not_begun_anew(stack: Stack) -> None:
    stack.run(backend={"type": "local", "path": str(stack.directory / "one.tfstate")})
    moved = {"type": "local", "path": str(stack.directory / "two.tfstate")}
    message = stack.refused(backend=moved)
    assert f"'{stack.data}/run init -migrate-state'" in message
