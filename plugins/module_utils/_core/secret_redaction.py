# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Nothing leaves an entry point of an engine, be it a line, a result or an error, that holds a secret."""

from __future__ import annotations

import functools
import inspect
import os
import re
import typing as t
from collections.abc import Callable, Iterator, Mapping

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import Mask
from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain, plain_document

Entry = Callable[..., dict[str, t.Any]]
# What settings are called that hold a secret; some only say where one is.
_SECRET = re.compile(r"(?i)passw|passphrase|token|secret|credential|api_?key|private_?key|access_?key")
_PLACE = re.compile(r"(?i)_?(id|file|path|dir|name|arn|sock|host|endpoint|command|ttl|expiration)$")
# A shorter value, or a word, is found in texts that have nothing to do with it.
_VALUE = re.compile(r"(?s)(?=.*\d)(?=.*[A-Za-z]).{8,}")
_LOGIN = re.compile(r"://[^/?#\s]+@")


def redacted(entry: Entry) -> Entry:
    """Take secrets and control characters out of all that `entry` says, returns and raises.

    Secrets are what its option `redact` names and what the environment holds. An entry that takes a `mask` gets it, for
    what it keeps; it may make more secrets known to it.
    """
    takes_mask = "mask" in inspect.signature(entry).parameters

    @functools.wraps(entry)
    def run(*args: t.Any, **how: t.Any) -> dict[str, t.Any]:
        params = args[0] if args and isinstance(args[0], Mapping) else {}
        mask = Mask((*(params.get("redact") or ()), *secrets_in(os.environ)))
        how |= {"mask": mask} if takes_mask else {}
        if say := how.get("say"):
            how["say"] = lambda line: say(plain(mask.text(line)))
        with redacting(mask):
            found = entry(*args, **how)
        return t.cast(dict[str, t.Any], plain_document(mask.document(found)))

    return run


def errors_redacted(entry: Entry) -> Entry:
    """Take secrets out of what `entry` raises; what it returns is the input of other tasks, and is not touched."""

    @functools.wraps(entry)
    def run(*args: t.Any, **how: t.Any) -> dict[str, t.Any]:
        params = args[0]
        with redacting(Mask((*(params.get("redact") or ()), *secrets_in(os.environ)))):
            return entry(*args, **how)

    return run


class redacting:  # noqa: N801
    """Take what `mask` knows out of an error that leaves the block."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Change the error."""
        if isinstance(error, EksError):
            error.args, error.details = (self._mask.text(str(error)),), self._mask.document(error.details)


def secrets_in(settings: Mapping[str, t.Any]) -> Iterator[str]:
    """Yield the values of settings, such as environment variables, that are called a secret or hold a login."""
    for name, value in settings.items():
        if isinstance(value, str) and (_LOGIN.search(value) or (_is_secret(name) and _VALUE.fullmatch(value))):
            yield value


def _is_secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and not _PLACE.search(name)
