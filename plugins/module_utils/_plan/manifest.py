# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Parse the manifest that a chart renders, into the objects that Helm will send to the cluster."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import parse

# Helm writes a separator before each document, and the name of the template below it.
_SEPARATOR = re.compile(r"^---[ \t]*\n", re.MULTILINE)
_COMMENT = re.compile(r"^#.*$", re.MULTILINE)
_TEMPLATE = re.compile(r"^# Source: (.+)$", re.MULTILINE)


def read_manifest(text: str, *, chart: str) -> tuple[Document, ...]:
    """Return the objects of rendered `text`, with the items of lists.

    Raises:
        InvalidInputError: a document is not a Kubernetes object; the message names the template.
    """
    found: list[Document] = []
    for part in _SEPARATOR.split(text):
        template = _TEMPLATE.search(part)
        where = f"chart {chart}: {template[1] if template else 'a template'} renders"
        if _COMMENT.sub("", part).strip() not in ("", "null", "~"):
            found += _objects(_document(part, where), where)
    return tuple(found)


def _document(part: str, where: str) -> Document:
    try:
        return parse(part, name="its output", empty=True).data
    except InvalidInputError as error:
        # The line number is one of the rendered text.
        raise InvalidInputError(f"{where} no object: {error} 'helm template' shows it.") from error


def _objects(document: t.Any, where: str) -> Iterator[Document]:
    if not isinstance(document, dict):
        raise InvalidInputError(f"{where} {shown(document)} where an object is expected. Fix the template.")
    if not document:
        return
    kind, items = document.get("kind"), document.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for item in items:
            yield from _objects(item, where)
        return
    for key in ("apiVersion", "kind"):
        _demand_text(document, key, key, document, where)
    metadata = document.get("metadata")
    _demand_text(metadata if isinstance(metadata, dict) else {}, "name", "metadata.name", document, where)
    for key in ("labels", "annotations"):
        if not isinstance(document["metadata"].get(key) or {}, dict):
            raise InvalidInputError(
                f"{where} {_describe(document)} whose metadata.{key} is not a mapping. Fix the template."
            )
    yield document


def _demand_text(data: Document, key: str, path: str, document: Document, where: str) -> None:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        found = f"found {shown(value)}" if key in data else "found none"
        raise InvalidInputError(f"{where} {_describe(document)} without {path}: {found}. Fix the template.")


def _describe(document: Document) -> str:
    """Return the kind and name of a malformed object, as far as it has them."""
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    known = [str(one) for one in (document.get("kind"), name) if one]
    return f"an object ({shown('/'.join(known))})" if known else "an object"
