# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Nothing leaves an entry point that holds a secret."""

from __future__ import annotations

import errno
import typing as t

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import CommandError, EksError
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_redaction import (
    errors_redacted,
    redacted,
    secrets_in,
)

Params = dict[str, t.Any]
REDACT = {"redact": ["named/secret"]}


@redacted
def entry(params: Params, *, say: t.Callable[[str], None], mask: Mask) -> Params:
    """Say, return or raise what it was given; `learned` is a secret that it finds out."""
    mask.add([params["learned"]])
    for line in params["lines"]:
        say(line)
    if params.get("fails"):
        raise CommandError(f"helm: {params['fails']}", stderr=params["fails"], command=["helm", "--set", "x=learned-1"])
    return {"changed": True, "lines": params["lines"], "nested": {"a": [params["lines"]]}}


def test_lines_and_results_hold_no_secret_and_no_control_character() -> None:
    said: list[str] = []
    lines = ["named%2Fsecret \x1b[31mred", "learned-1 and plain"]
    found = entry({**REDACT, "learned": "learned-1", "lines": lines}, say=said.append)
    assert said == ["******** red", "******** and plain"]
    assert found == {"changed": True, "lines": said, "nested": {"a": [said]}}


def test_errors_hold_none_either() -> None:
    with pytest.raises(CommandError) as caught:
        entry({**REDACT, "learned": "learned-1", "lines": [], "fails": 'no "named\\/secret"'}, say=print)
    assert str(caught.value) == 'helm: no "********"'
    assert caught.value.details == {"stderr": 'no "********"', "command": ["helm", "--set", "x=********"]}


@pytest.mark.parametrize("decorate", [redacted, errors_redacted])
def test_an_error_of_the_system_is_one_line_about_the_entry_point(
    decorate: t.Callable[[t.Callable[[Params], Params]], t.Callable[[Params], Params]],
) -> None:
    def run_info(params: Params) -> Params:
        raise PermissionError(errno.EACCES, "Permission denied", params["path"])

    with pytest.raises(EksError) as caught:
        decorate(run_info)({**REDACT, "path": "/x/named/secret"})
    assert str(caught.value) == (
        "run_info: /x/********: permission denied. Give the user of ansible-playbook this permission, "
        "then run the same command again."
    )


def test_what_is_the_input_of_others_is_returned_as_it_is() -> None:
    @errors_redacted
    def read(params: Params) -> Params:
        if params["fails"]:
            raise CommandError("found 'named/secret'")
        return {"values": "named/secret"}

    assert read({**REDACT, "fails": False}) == {"values": "named/secret"}
    with pytest.raises(CommandError, match=r"found '\*{8}'"):
        read({**REDACT, "fails": True})


def test_secrets_of_the_environment_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pr0xy-pw@proxy.example.org:3128")
    said: list[str] = []
    lines = ["--secret wJalrXUtnFEMI%2FK7MDENG%2BbPxRfiCYEXAMPLEKEY", "407 for pr0xy-pw at proxy.example.org:3128"]
    entry({"learned": "", "lines": lines}, say=said.append)
    assert said == ["--secret ********", "407 for ******** at proxy.example.org:3128"]


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("HF_TOKEN", "hf_abc123456", True),
        ("DB_PASSWORD", "hunter2222", True),
        ("GIT_REPO", "https://x-token:abc@github.com/a/b", True),
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", False),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/secrets/eks/token1", False),
        ("TOKENIZERS_PARALLELISM", "false", False),
        ("DB_PASSWORD", "postgres", False),
        ("HOME", "/home/me123456", False),
    ],
)
def test_only_what_is_called_a_secret_is_one(name: str, value: str, *, secret: bool) -> None:
    assert list(secrets_in({name: value})) == ([value] if secret else [])
