# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Reads a kubeconfig without the `kubernetes` package, whose import takes more than half a second.

Source: Kubernetes client-go `tools/clientcmd/api/v1/types.go`. File names are relative to the directory of the file. A
`*-data` key takes precedence over the file that the key without `-data` names.
"""

from __future__ import annotations

import base64
import binascii
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.bounds import KUBECONFIG, read
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean


@dataclass(frozen=True, kw_only=True)
class Section:
    """One mapping of the file; `label` is its place, such as `users[me].user`."""

    file: Path
    label: str
    values: Mapping[str, t.Any]

    def mistake(self, key: str, message: str) -> InvalidInputError:
        """Return the error about `key`."""
        return InvalidInputError(
            f"kubeconfig {self.file}: {self.label}.{key}: {message}. Correct it, or write it again."
        )

    def text(self, key: str) -> str:
        """Return the string under `key`, empty when there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.mistake(key, f"{type(value).__name__} found, text expected")
        return value or ""

    def flag(self, key: str) -> bool:
        """Return the boolean under `key`."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.mistake(key, f"{type(value).__name__} found, true or false expected")
        return bool(value)

    def entries(self, key: str) -> list[t.Any]:
        """Return the list under `key`."""
        value = self.values.get(key) or []
        if not isinstance(value, list):
            raise self.mistake(key, f"{type(value).__name__} found, a list expected")
        return value

    def section(self, key: str) -> Section | None:
        """Return the mapping under `key`."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.mistake(key, f"{type(value).__name__} found, a mapping expected")
        return None if value is None else Section(file=self.file, label=f"{self.label}.{key}", values=value)

    def path(self, key: str) -> Path | None:
        """Return the file that `key` names."""
        name = self.text(key)
        return self.file.absolute().parent / Path(name).expanduser() if name else None

    def content(self, key: str) -> bytes | None:
        """Return the content of `<key>-data`, or of the file under `key`."""
        data, path = self.text(f"{key}-data"), self.path(key)
        if data:
            try:
                return base64.b64decode("".join(data.split()), validate=True)
            except (binascii.Error, ValueError) as error:
                raise self.mistake(f"{key}-data", f"not base64 ({error})") from error
        if path is None:
            return None
        try:
            return path.read_bytes()
        except OSError as error:
            raise self.mistake(key, f"{path}: {error.strerror}") from error


class Access(t.NamedTuple):
    """The cluster and user of a context. `user` is empty when the context names none."""

    context: str
    cluster: Section
    user: Section


def access(kubeconfig: str, context: str | None) -> Access:
    """Return cluster and user of `context`, or of the current one.

    Raises:
        InvalidInputError: the file is missing, unreadable or malformed, or has no such context.
    """
    top = Section(file=Path(kubeconfig).expanduser(), label="", values=_document(kubeconfig))
    wanted = context or top.text("current-context")
    if not wanted:
        raise InvalidInputError(
            f"kubeconfig {kubeconfig}: no current-context. Name one by the host's variable 'kube_context'."
        )
    chosen = _named(top, "contexts", wanted)
    user = chosen.text("user")
    return Access(
        context=wanted,
        cluster=_named(top, "clusters", chosen.text("cluster")),
        # As in kubectl, a user that the file does not define is anonymous.
        user=_named(top, "users", user, optional=True),
    )


def _document(kubeconfig: str) -> dict[str, t.Any]:
    try:
        content = read(Path(kubeconfig).expanduser(), KUBECONFIG, what=f"kubeconfig {kubeconfig}")
        document = yaml.safe_load(content.decode())
    except FileNotFoundError:
        raise InvalidInputError(
            f"kubeconfig {kubeconfig}: no such file. Create the cluster, or correct the host's variable 'kubeconfig'."
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{kubeconfig}:{mark.line + 1}" if mark else kubeconfig
        raise InvalidInputError(f"kubeconfig {where}: cannot be read: {error.problem}. Write it again.") from error
    except (OSError, UnicodeDecodeError, RecursionError, yaml.YAMLError) as error:
        message = " ".join(str(error).split())
        raise InvalidInputError(f"kubeconfig {kubeconfig}: cannot be read: {message}. Write it again.") from error
    if not isinstance(document, dict) or not document.get("clusters"):
        raise InvalidInputError(f"kubeconfig {kubeconfig}: it names no cluster. Write it again.")
    return document


def _named(top: Section, kind: str, name: str, *, optional: bool = False) -> Section:
    """Return the entry `name` of the list `kind`, such as `clusters`: its mapping under `cluster`."""
    singular = kind.removesuffix("s")
    found: dict[str, Section] = {}
    for index, entry in enumerate(top.entries(kind)):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise InvalidInputError(
                f"kubeconfig {top.file}: {kind}[{index}]: a mapping with a name expected. Correct it or write it again."
            )
        # Of several entries with one name, the first counts.
        found.setdefault(entry["name"], Section(file=top.file, label=f"{kind}[{entry['name']}]", values=entry))
    if name not in found and not optional:
        hint = did_you_mean(name, list(found))
        raise InvalidInputError(f"kubeconfig {top.file}: no {singular} {name!r} under {kind}.{hint}")
    inner = found[name].section(singular) if name in found else None
    return inner or Section(file=top.file, label=f"{kind}[{name}].{singular}", values={})
