# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Files that are either whole or not there."""

from __future__ import annotations

import json
import os
import tempfile
import typing as t
from pathlib import Path

import yaml

from ansible_collections.mlops.eks.plugins.module_utils._core.scalars import teach


def write_atomically(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Replace what is at `path`; a reader sees the old content or the new, never a part.

    What is `private` only its owner may read.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        Path(temporary).chmod(0o600 if private else 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def to_json(document: t.Any) -> str:
    """Return indented JSON with a final newline."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


# With libyaml the evidence of a thousand pods takes seconds, not half a minute; both write the same.
_Base: t.Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Block style with literal blocks, so that scripts stay readable, and text that Helm reads as text again."""


def _literal(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _literal)
teach(_Dumper)


def to_yaml(document: t.Any) -> str:
    """Return YAML in the document's own key order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def to_yaml_stream(documents: t.Iterable[t.Any]) -> str:
    """Return several YAML documents, each after a `---` line."""
    return "".join(f"---\n{to_yaml(document)}" for document in documents)
