# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Mask secrets in everything that leaves an entry point of an engine: lines, results and errors."""

from __future__ import annotations

import functools
import inspect
import os
import re
import typing as t
from collections.abc import Callable, Iterator, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import unexpected_error
from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain, plain_document

Entry = Callable[..., dict[str, t.Any]]
# Names of settings that hold a secret, and suffixes of those that only hold its location.
_SECRET = re.compile(r"(?i)passw|passphrase|token|secret|credential|api_?key|private_?key|access_?key")
_LOCATION = re.compile(r"(?i)_?(id|file|path|dir|name|arn|sock|host|endpoint|command|ttl|expiration)$")
# A shorter value, or a plain word, also occurs in unrelated text.
_VALUE = re.compile(r"(?s)(?=.*\d)(?=.*[A-Za-z]).{8,}")
_LOGIN = re.compile(r"://[^/?#\s]+@")


def redacted(entry: Entry) -> Entry:
    """Mask secrets and remove control characters in all that `entry` prints, returns and raises.

    Secrets are those of its option `redact` and of the environment. If `entry` has a parameter `mask`, it gets the mask
    for the files that it writes, and may add secrets to it.
    """
    takes_mask = "mask" in inspect.signature(entry).parameters

    @functools.wraps(entry)
    def run(*args: t.Any, **how: t.Any) -> dict[str, t.Any]:
        params = args[0] if args and isinstance(args[0], Mapping) else {}
        mask = Mask((*(params.get("redact") or ()), *secrets_in(os.environ)))
        how |= {"mask": mask} if takes_mask else {}
        if say := how.get("say"):
            how["say"] = lambda line: say(plain(mask.text(line)))
        with redacting(mask, entry.__name__):
            result = entry(*args, **how)
        return t.cast(dict[str, t.Any], plain_document(mask.document(result)))

    return run


def errors_redacted(entry: Entry) -> Entry:
    """Mask secrets in the errors of `entry`; its result is the input of other tasks and stays unchanged."""

    @functools.wraps(entry)
    def run(*args: t.Any, **how: t.Any) -> dict[str, t.Any]:
        params = args[0]
        with redacting(Mask((*(params.get("redact") or ()), *secrets_in(os.environ))), entry.__name__):
            return entry(*args, **how)

    return run


class redacting:  # noqa: N801
    """Mask secrets in an error that leaves the block; an `OSError` becomes one line about entry point `name`."""

    def __init__(self, mask: Mask, name: str) -> None:
        self._mask, self._name = mask, name

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Mask the error.

        Raises:
            EksError: the error of the operating system that left the block.
        """
        if isinstance(error, OSError):
            raise EksError(self._mask.text(str(unexpected_error(self._name, error)))) from error
        if isinstance(error, EksError):
            error.args, error.details = (self._mask.text(str(error)),), self._mask.document(error.details)


def secrets_in(settings: Mapping[str, t.Any]) -> Iterator[str]:
    """Yield the values of settings, such as environment variables, that are secrets by their name or hold a login."""
    for name, value in settings.items():
        if isinstance(value, str) and (_LOGIN.search(value) or (_is_secret(name) and _VALUE.fullmatch(value))):
            yield value


def _is_secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and not _LOCATION.search(name)
