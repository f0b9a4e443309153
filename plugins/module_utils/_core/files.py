# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Write files atomically; JSON and YAML."""

from __future__ import annotations

import functools
import json
import os
import secrets
import typing as t
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml
from ansible_collections.mlops.eks.plugins.module_utils._core.scalars import add_helm_resolvers
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import writing

# Modes before the umask.
SHARED, PRIVATE = 0o666, 0o600


def write_atomically(path: Path, content: str | bytes, *, private: bool = False, mode: int = SHARED) -> None:
    """Replace what is at `path`; a reader sees the old content or the new, never a part.

    A `private` file is readable by its owner only. The new file has no permission that `mode`, the umask or the old
    file lacks.

    Raises:
        StorageError: it cannot be written; the old file stays.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, content, (mode & mode_of(path) & (PRIVATE if private else SHARED)) | PRIVATE)


def _replace(path: Path, content: str | bytes, mode: int) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    # The kernel applies the umask; reading the umask is not thread-safe.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def mode_of(path: Path) -> int:
    """Return the read and write permissions of a file; `SHARED` if there is none."""
    try:
        return path.stat().st_mode & SHARED
    except FileNotFoundError:
        return SHARED


def to_json(document: t.Any) -> str:
    """Return indented JSON with a final newline."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


@functools.cache
def _dumper() -> t.Any:
    """Return a dumper that writes scripts as literal blocks and quotes text that Helm would not read as text."""
    # With libyaml the evidence of 1,000 pods takes seconds instead of half a minute. Both give the same text.
    base: t.Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    dumper: t.Any = type("Dumper", (base,), {})
    dumper.add_representer(str, _literal)
    add_helm_resolvers(dumper)
    return dumper


def _literal(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def to_yaml(document: t.Any) -> str:
    """Return YAML in the document's own key order."""
    return yaml.dump(document, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=120)


def to_yaml_stream(documents: t.Iterable[t.Any]) -> str:
    """Return several YAML documents, each after a `---` line."""
    return "".join(f"---\n{to_yaml(document)}" for document in documents)
