# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Every error the collection raises on purpose.

EksError
├── InvalidInputError      the user's files or arguments are wrong; nothing was changed
│   └── SourceError        a chart cannot be had from where it is said to be
├── MissingToolError       a program or Python library is not installed
├── StorageError           a file of ours cannot be written; the message names it
├── CommandError           a program ran and failed; carries `command`, `rc`, `stderr`
├── ConflictError          somebody else holds the release, or it runs something different
├── ClusterError           the cluster refused or could not be reached
│   ├── UnreachableError   no answer for longer than the patience given
│   ├── ForbiddenError     the identity in use lacks a permission
│   └── AbsentError        a namespace or object that must exist does not
└── AwsError               AWS refused or could not be reached; carries `code` where AWS gave one
    ├── CredentialsError   there are no credentials, or AWS takes them no more
    └── DeniedError        the identity in use lacks an IAM action; carries `action` where AWS named it

A message is one line: what object, what was found, what to do about it.
"""

from __future__ import annotations

import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.text import plain


class EksError(Exception):
    """Base of every error the collection raises on purpose.

    `details` become result keys beside `msg`; they must be JSON-able and free of secrets.
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
    """A chart cannot be had from where it is said to be; nothing was changed. `key` is what the step says wrongly."""

    def __init__(self, message: str, *, key: str = "chart", **details: t.Any) -> None:
        super().__init__(message, **details)
        self.key = key


class MissingToolError(EksError):
    """A program or Python library is not installed."""


class StorageError(EksError):
    """A file of ours cannot be written: the disk is full, read-only, or not ours to write.

    `why` is that in a few words; `found` adds how full it is, and `remedy` is a sentence without its full stop.
    """

    def __init__(self, message: str, *, path: str = "", why: str = "", found: str = "", remedy: str = "") -> None:
        super().__init__(message, unwritable=path)
        self.path, self.why, self.found, self.remedy = path, why, found, remedy


class CommandError(EksError):
    """A program ran and failed."""


class ConflictError(EksError):
    """Somebody else holds the release, or it runs something different."""


class ClusterError(EksError):
    """The cluster refused or could not be reached."""


class UnreachableError(ClusterError):
    """No answer for longer than the patience given."""


class ForbiddenError(ClusterError):
    """The identity in use lacks a permission."""


class AbsentError(ClusterError):
    """A namespace or object that must exist does not."""


class AwsError(EksError):
    """AWS refused or could not be reached."""


class CredentialsError(AwsError):
    """There are no credentials, or AWS takes them no more."""


class DeniedError(AwsError):
    """The identity in use lacks an IAM action."""
