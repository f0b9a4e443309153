# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Refuse dangerous templates in values, which charts evaluate by `tpl` with the permissions of the controller.

`lookup` reads any object that the controller may read, for an administrator every Secret of the cluster. A recipe is
data and must not do that, so `lookup` and functions that could call it indirectly are refused. The templates of a chart
are code that the user chose, and may use all functions.

The lexer follows Go's text/template (`parse/lex.go`). A function is called by its bare name, so a value without that
name inside `{{ }}` cannot call it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.layers import Layers
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import dotted, strings

# Functions with access to data outside the chart. Helm removes `env` and `expandenv`, and getHostByName without
# --enable-dns (helm `pkg/engine/funcs.go`, `engine.go`); they are refused anyway.
_REACHING = {
    "lookup": "reads objects of the cluster, Secrets too, with the rights of who runs the play",
    "getHostByName": "asks the network's name servers",
    "env": "reads the environment of who runs the play",
    "expandenv": "reads the environment of who runs the play",
}
# Functions that evaluate computed text, or change values that a chart evaluates later.
_HIDING = ("tpl", "include", "template", "block", "set", "merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite")
_REFUSED = {**_REACHING, **dict.fromkeys(_HIDING, "evaluates or changes templates under names that are computed")}
# Inside these, `.` is not the root data of the chart.
_SCOPES = {"with", "range", "define", "block"}
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*')
    |(?P<field>[.$][\w.]*)
    |(?P<name>[^\W\d]\w*)
    |(?P<number>\d[\w.]*)
    |(?P<other>[^"`'])""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"(?:-\s)?\s*/\*.*?\*/\s*(?:-)?\}\}", re.DOTALL)
_END = re.compile(r"(?:\s-)?\}\}")

Token = tuple[str, str]


class _OpenError(Exception):
    """A template does not end in the text in which it begins."""


def refuse_calls(layered: Layers) -> None:
    """Check that no template in the values accesses data outside the chart.

    Raises:
        InvalidInputError: file, line and key of the first one, what it does, and how to allow it.
    """
    # Charts also evaluate whole mappings, with their keys.
    for path, text in strings(layered.values, keys=True):
        if "{{" not in text:
            continue
        why = problem(text)
        if why:
            raise InvalidInputError(
                f"{layered.at(path)}: {dotted(path)}: {why}. Values are no place for that: let the chart refer to "
                "the object, or set allow_lookup: true if you wrote or trust this recipe."
            )


def problem(text: str) -> str:
    """Return why a text is not allowed as a template in a value; the empty string if it is."""
    try:
        actions = list(_actions(text))
    except _OpenError:
        return "the template that begins with '{{' does not end in this value"
    names = {value for action in actions for kind, value in action if kind == "name"}
    plain = not (names & _SCOPES or any(map(_assigns_root, actions)))
    for action in actions:
        for index, (kind, value) in enumerate(action):
            if kind != "name" or value not in _REFUSED:
                continue
            if value == "include" and plain and _is_plain_include(action[index + 1 : index + 4]):
                continue
            return f"its template calls {value}, which {_REFUSED[value]}"
    return ""


def _assigns_root(action: list[Token]) -> bool:
    """Return whether an action assigns `$`, the root data of the chart."""
    following = itertools.pairwise(action)
    return any(token == ("field", "$") and after in (("other", "="), ("other", ":")) for token, after in following)


def _is_plain_include(following: list[Token]) -> bool:
    """Return whether an `include` has a literal name and the root data of the chart."""
    kinds = [kind for kind, _value in following]
    return kinds[:2] == ["text", "field"] and following[1][1] in (".", "$") and kinds[2:] in ([], ["other"])


def _actions(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of each action.

    Raises:
        _OpenError: the last action does not end.
    """
    at = 0
    while (begin := text.find("{{", at)) >= 0:
        comment = _COMMENT.match(text, begin + 2)
        if comment:
            at = comment.end()
            continue
        tokens, at = _action(text, begin + 2)
        yield tokens


def _action(text: str, at: int) -> tuple[list[Token], int]:
    tokens: list[Token] = []
    while True:
        end = _END.match(text, at)
        if end:
            return tokens, end.end()
        found = _TOKEN.match(text, at)
        if found is None:
            raise _OpenError
        kind = str(found.lastgroup)
        if kind != "space":
            tokens.append((kind, found[0]))
        at = found.end()
