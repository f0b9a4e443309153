"""What the base class of the action plugins does itself: errors outside of an engine, and vaulted variables."""

from __future__ import annotations

import errno
import os
import typing as t
from types import SimpleNamespace

import pytest
from ansible.parsing.vault import EncryptedString, VaultLib, VaultSecret, VaultSecretsContext
from ansible.plugins.action import ActionBase

from ansible_collections.mlops.eks.plugins.plugin_utils.live import LiveAction, vaulted_strings


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/x"),
            "/tmp/x: no space left on device. Free space there, then run the same command again.",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file", b"/bin/sh"),
            "/bin/sh: no such file or directory. Create it, or correct the path, then run the same command again.",
        ),
        (BlockingIOError(errno.EAGAIN, "Try again"), "try again. Run the same command again."),
        (OSError("odd"), "odd. Run the same command again."),
    ],
)
def test_an_error_of_the_system_outside_the_engine_is_one_line(
    error: OSError, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> t.NoReturn:
        raise error

    monkeypatch.setattr(ActionBase, "run", lambda *_: {"changed": False})
    action: t.Any = LiveAction.__new__(LiveAction)
    action._task = SimpleNamespace(async_val=0, action="mlops.eks.run_info")
    action._is_elsewhere, action._own_environment, action._run_here = lambda: False, dict, fail
    assert action.run() == {"changed": False, "failed": True, "msg": f"mlops.eks.run_info: {says}"}


def test_vaulted_strings_are_found_at_any_depth_and_only_with_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets: t.Any = [("default", VaultSecret(b"password"))]
    text = EncryptedString(ciphertext=VaultLib(secrets).encrypt("hunter2").decode())
    variables = {"a": "plain", "b": [1, None, {"c": (text, "plain")}]}
    monkeypatch.setattr(VaultSecretsContext, "_current", None)
    assert list(vaulted_strings(variables)) == []
    monkeypatch.setattr(VaultSecretsContext, "_current", VaultSecretsContext(secrets))
    assert list(vaulted_strings(variables)) == ["hunter2"]
