# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Read YAML scalars and keys as Helm and Kubernetes do: `1e-4` is a number, `12:30:00` is text, `y` is true.

Source: sigs.k8s.io/yaml `goyaml.v2/resolve.go`; tests/unit compares with `helm template`.
"""

from __future__ import annotations

import json
import math
import re
import typing as t

from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import yaml

if t.TYPE_CHECKING:
    from yaml.constructor import SafeConstructor
    from yaml.resolver import Resolver
else:
    # The real base is added when the first document is read, by `_recipe/reader.py`.
    SafeConstructor = object

TAG = "tag:yaml.org,2002:"
# Range of integers: int64 and uint64 of Go.
LEAST, MOST = -(2**63), 2**64 - 1
_WHOLE = r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
_NUMBER = rf"[-+]?(?:{_WHOLE}|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?)"
# Tag, pattern of the plain scalars with this tag, and their first characters.
_MEANINGS: tuple[tuple[str, str, t.Sequence[str]], ...] = (
    ("bool", r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF", "yYnNtTfFoO"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("float", _NUMBER, "-+.0123456789"),
    ("merge", r"<<", "<"),
)


def add_helm_resolvers(resolver: type[Resolver]) -> None:
    """Make a loader resolve plain scalars as Helm does, or a dumper quote text that Helm would not read as text."""
    for tag, pattern, first in _MEANINGS:
        resolver.add_implicit_resolver(f"{TAG}{tag}", re.compile(f"^(?:{pattern})$"), list(first))


class HelmConstructor(SafeConstructor):
    """Constructs the values that Helm constructs: types of JSON, with string keys."""

    bool_values: t.ClassVar = {
        **dict.fromkeys(("y", "yes", "true", "on"), True),
        **dict.fromkeys(("n", "no", "false", "off"), False),
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[t.Hashable, t.Any]:
        """Return a mapping with string keys."""
        mapping = super().construct_mapping(node, deep)
        return {key_text(key): value for key, value in mapping.items()}

    def construct_number(self, node: yaml.ScalarNode) -> int | float | str:
        """Return an integer of 64 bits, else a float, else text if it fits neither."""
        text = str(self.construct_scalar(node))
        plain = text.replace("_", "")
        octal = re.fullmatch(r"([-+]?)0([0-7]+)", plain)
        try:
            whole = int(f"{octal[1]}0o{octal[2]}" if octal else plain, 0)
        except ValueError:
            whole = MOST + 1
        if LEAST <= whole <= MOST:
            return whole
        whole_only = re.fullmatch(rf"[-+]?(?:{_WHOLE})", plain)
        try:
            number = math.inf if whole_only else float(plain)
        except ValueError:
            number = math.nan
        # A plain scalar that looks like a number has the tag of a float.
        if math.isnan(number) or (math.isinf(number) and node.tag == f"{TAG}int"):
            raise yaml.MarkedYAMLError(None, None, "found no number where the tag says so", node.start_mark)
        return number if math.isfinite(number) else text

    def construct_truth(self, node: yaml.ScalarNode) -> bool:
        """Return a boolean."""
        found = self.bool_values.get(str(self.construct_scalar(node)).lower())
        if found is None:
            raise yaml.MarkedYAMLError(
                None, None, "found neither true nor false where the tag says so", node.start_mark
            )
        return found

    def construct_text(self, node: yaml.ScalarNode) -> str:
        """Return the scalar unchanged."""
        return str(self.construct_scalar(node))


def helm_constructors() -> dict[str | None, t.Any]:
    """Return the constructor of each tag; that of `None` is for all other tags."""
    inherited = yaml.constructor.SafeConstructor.yaml_constructors
    return {
        **{tag: inherited[tag] for tag in (None, f"{TAG}null", f"{TAG}str", f"{TAG}seq", f"{TAG}map")},
        f"{TAG}bool": HelmConstructor.construct_truth,
        f"{TAG}int": HelmConstructor.construct_number,
        f"{TAG}float": HelmConstructor.construct_number,
        # `<<` merges only as a key; as a value it is text.
        f"{TAG}merge": HelmConstructor.construct_text,
    }


def key_text(key: t.Any) -> str:
    """Return a key as Go formats it: `1e3` is `1000`."""
    if isinstance(key, str):
        return key
    return json.dumps(int(key) if isinstance(key, float) and key.is_integer() else key)
