# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The key `secrets` of a pipeline or a step: Secrets, and the source of each value in them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._core.names import REGION, SECRET, SECRET_KEY
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean
from ansible_collections.mlops.eks.plugins.module_utils._core.text import shown
from ansible_collections.mlops.eks.plugins.module_utils._recipe.keys import Key, Path, check_keys
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source

# The source of one value: a mapping with one key of `SOURCES`, and the other keys of that row.
Origin = Mapping[str, t.Any]
SOURCES: Mapping[str, dict[str, Key]] = {
    "variable": {"variable": Key(str, "the name of a variable")},
    "env": {"env": Key(str, "the name of an environment variable")},
    "lookup": {
        "lookup": Key(str, "the name of a lookup plugin"),
        "terms": Key(list, "a list"),
        "options": Key(dict, "a mapping"),
    },
    "aws_secret": {
        "aws_secret": Key(str, "the name or ARN of a secret in AWS Secrets Manager"),
        "key": Key(str, "a key of the JSON that the secret is"),
        "region": Key(str, "a region", rule=REGION),
    },
    "ssm_parameter": {
        "ssm_parameter": Key(str, "the name of a parameter in AWS Systems Manager"),
        "region": Key(str, "a region", rule=REGION),
    },
}
_KEYS = {
    "name": Key(str, "the name of a Secret", required=True, rule=SECRET),
    "type": Key(str, "a type of Secret, such as kubernetes.io/tls"),
    "data": Key(dict, "a mapping of the Secret's keys to where each comes from"),
    "keys": Key(list, "a list of the Secret's keys"),
}
_EXAMPLE = "{env: HF_TOKEN}"


def refuse(origin: Origin) -> str:
    """Raise an error: this process cannot read secrets."""
    raise InvalidInputError(f"{shown(dict(origin))} can only be read on the controller, by the action plugin.")


@dataclass(frozen=True, kw_only=True)
class DeclaredSecret:
    """One Secret: its `data` maps keys to text or to a source. Without data the Secret must exist, with `keys`."""

    name: str
    type: str = "Opaque"
    data: Mapping[str, str | Origin] = field(default_factory=dict, repr=False)
    keys: tuple[str, ...] = ()

    def to_document(self) -> dict[str, t.Any]:
        """Return the Secret as in `pipeline.yaml`."""
        kind = {} if self.type == "Opaque" else {"type": self.type}
        return {"name": self.name, **kind, **({"data": dict(self.data)} if self.data else {"keys": list(self.keys)})}

    @property
    def is_plain(self) -> bool:
        """Whether it holds the text of a secret, which must not be written to a file."""
        return any(isinstance(one, str) for one in self.data.values())


@dataclass(frozen=True, kw_only=True)
class DeclaredSecrets:
    """All Secrets declared for a step. Each value is read once with `resolve`, and then passed to `learn`."""

    entries: tuple[DeclaredSecret, ...] = ()
    resolve: Callable[[Origin], str] = refuse
    learn: Callable[[str], None] = lambda _: None
    _known: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)

    def content(self, declared: DeclaredSecret) -> Mapping[str, str]:
        """Return the content of a Secret to create.

        Raises:
            EksError: a value cannot be read; the message names Secret and key.
        """
        if declared.name not in self._known:
            self._known[declared.name] = {key: self._one(declared, key) for key in declared.data}
        return self._known[declared.name]

    def _one(self, declared: DeclaredSecret, key: str) -> str:
        origin = declared.data[key]
        try:
            found = origin if isinstance(origin, str) else self.resolve(origin)
            if not found:
                raise InvalidInputError(f"{shown(dict(origin)) if isinstance(origin, Mapping) else 'it'} is empty.")
        except EksError as error:
            error.args = (f"secrets: Secret {declared.name}, key {key}: {error}",)
            raise
        self.learn(found)
        return found


def declared_secrets(source: Source, *, text: bool) -> tuple[DeclaredSecret, ...]:
    """Return the Secrets under the key `secrets`; with `text`, a value may be the secret itself.

    Raises:
        InvalidInputError: with file, line and key of the mistake; no value is shown.
    """
    found: dict[str, DeclaredSecret] = {}
    for index, data in enumerate(source.data.get("secrets") or ()):
        path: Path = ("secrets", index)
        if not isinstance(data, dict):
            raise InvalidInputError(
                f"{source.at(path)}: a secret must be a mapping with name and data, or name and keys."
            )
        one = _declared(source, {key: value for key, value in data.items() if value is not None}, path, text=text)
        if one.name in found:
            raise InvalidInputError(f"{source.at(path)}: Secret {one.name!r} is declared twice. Keep one of them.")
        found[one.name] = one
    return tuple(found.values())


def _declared(source: Source, data: dict[str, t.Any], path: Path, *, text: bool) -> DeclaredSecret:
    for key, value in data.items():
        # Check this first: the message of `check_keys` would show the value.
        if key == "data" and not isinstance(value, dict):
            raise InvalidInputError(f"{source.at((*path, key))}: data: expected {_KEYS['data'].expected}.")
    check_keys(source, data, path, _KEYS)
    if bool(data.get("data")) == bool(data.get("keys")):
        raise InvalidInputError(
            f"{source.at(path)}: Secret {data['name']}: set data, with the source of each key, to create it; "
            "or keys, if it exists already."
        )
    for key in data.get("keys", ()):
        with source.errors_at((*path, "keys")):
            SECRET_KEY.check("key", key)
    for key, origin in data.get("data", {}).items():
        with source.errors_at((*path, "data", key)):
            SECRET_KEY.check("key", key)
            if not (text and isinstance(origin, str)):
                _check_origin(origin, key)
                check_keys(
                    source, origin, (*path, "data", key), SOURCES[next(word for word in SOURCES if word in origin)]
                )
    return DeclaredSecret(
        name=data["name"],
        type=data.get("type", "Opaque"),
        data=data.get("data", {}),
        keys=tuple(data.get("keys", ())),
    )


def _check_origin(origin: t.Any, key: str) -> None:
    """Check the source of a value. A wrong one is not shown, as it may be the secret itself."""
    if not isinstance(origin, dict):
        raise InvalidInputError(f"{key}: give the source of the secret, not the secret: {key}: {_EXAMPLE}.")
    words = [word for word in SOURCES if word in origin]
    if len(words) != 1:
        guess = "".join(did_you_mean(str(word), SOURCES) for word in origin)
        raise InvalidInputError(f"{key}: expected one of {', '.join(SOURCES)}, as {_EXAMPLE}.{guess}")
