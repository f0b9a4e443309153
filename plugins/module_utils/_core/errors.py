# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Every error the collection raises on purpose.

EksError
├── InvalidInputError      the user's files or arguments are wrong; nothing was changed
│   └── SourceError        a chart cannot be read from its source
├── MissingToolError       a program or Python library is not installed
├── StorageError           a file of the collection cannot be written; the message names it
├── CommandError           a program ran and failed; carries `command`, `rc`, `stderr`
├── ConflictError          another controller holds the release, or it runs another step
├── ClusterError           the cluster refused or could not be reached
│   ├── UnreachableError   no answer within `api_retry_timeout`
│   ├── ForbiddenError     the current identity lacks a permission
│   └── AbsentError        a namespace or object that must exist does not
└── AwsError               AWS refused or could not be reached; carries `code` where AWS gave one
    ├── CredentialsError   there are no credentials, or they have expired
    └── DeniedError        the current identity lacks an IAM action; carries `action` where AWS named it

A message is one line: the object, what was found, and what to do.
"""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain


class EksError(Exception):
    """Base of every error the collection raises on purpose.

    `details` become keys of the result next to `msg`: JSON types, without secrets.
    """

    def __init__(self, message: str, **details: t.Any) -> None:
        super().__init__(message)
        self.details = details

    def to_result(self) -> dict[str, t.Any]:
        """Return the keyword arguments of `fail_json`."""
        return {"msg": plain(str(self)), **self.details}


class InvalidInputError(EksError):
    """The user's files or arguments are wrong; nothing was changed."""


class SourceError(InvalidInputError):
    """A chart cannot be read from its source; nothing was changed. `key` is the wrong key of the step."""

    def __init__(self, message: str, *, key: str = "chart", **details: t.Any) -> None:
        super().__init__(message, **details)
        self.key = key


class MissingToolError(EksError):
    """A program or Python library is not installed."""


class StorageError(EksError):
    """A file of the collection cannot be written.

    `why` is the reason, such as "no space left on device"; `found` adds the free space. `remedy` is a sentence without
    its full stop.
    """

    def __init__(self, message: str, *, path: str = "", why: str = "", found: str = "", remedy: str = "") -> None:
        super().__init__(message, unwritable=path)
        self.path, self.why, self.found, self.remedy = path, why, found, remedy


class CommandError(EksError):
    """A program ran and failed."""


class ConflictError(EksError):
    """Another controller holds the release, or it runs another step."""


class ClusterError(EksError):
    """The cluster refused or could not be reached."""


class UnreachableError(ClusterError):
    """No answer within `api_retry_timeout`."""


class ForbiddenError(ClusterError):
    """The current identity lacks a permission."""


class AbsentError(ClusterError):
    """A namespace or object that must exist does not."""


class AwsError(EksError):
    """AWS refused or could not be reached."""


class CredentialsError(AwsError):
    """There are no credentials, or they have expired."""


class DeniedError(AwsError):
    """The current identity lacks an IAM action."""
