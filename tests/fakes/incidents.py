"""Damage to YAML files by editors, people and attackers: each function returns the damaged lines."""

from __future__ import annotations

import random
from collections.abc import Callable

Lines = list[str]
Accident = Callable[[Lines, random.Random], Lines]
# Values of every kind, and some of no kind at all.
VALUES = (
    *("", "3", "-1", "0", "true", "null", "~", "[]", "{}", "[x]", "[[]]", "[null]", "{a: 1}", "{a: {b: [c]}}", "'é'"),
    *("1e3", "1e400", "0x10", "0xFFFFFFFFFFFFFFFFFFFF", "9" * 40, "9" * 5000, "1.5", ".inf", "2024-01-01", "12:30:00"),
    *("'\\0'", '"\\0"', '"\\ud800"', '"a\\nb"', "'a''b'", "!!int x", "!!bool x", "!!binary x", "!secret x", "x" * 300),
    *("../..", "/dev/zero", "*x", "&x", "%", "@", "`", "- - -", "{{ x }}", "{{x}}", "|", ">-", "? x", "<<", "[*x, *x]"),
)
_ROWS = (
    *("<<: *x", "&x", "? [a]", "? {a: b}", "[a]: b", "!!set {a}", "- - -", "---", "...", "%YAML 1.1", "~: 1", "1: x"),
    *("a: !!timestamp x", "1e999: 3", "!!int x", "a: &x {b: *x}", "\tx: 1", "{", "]", "'", '"', "# x", "a", "a: b: c"),
)
_CHARACTERS = "{}[]:,#&*!|>'\"%@`\t\n\r\0\x07\x1b\x85\u2028\ufeff\ufffe- ?~\\é\U0001f680"


def _row(lines: Lines, dice: random.Random) -> int:
    return dice.randrange(len(lines))


def misspell(lines: Lines, dice: random.Random) -> Lines:
    """A letter of a key is missing, doubled or wrong."""
    row = _row(lines, dice)
    key, colon, rest = lines[row].partition(":")
    at = dice.randrange(len(key) + 1)
    return [
        *lines[:row],
        key[:at] + dice.choice(("", key[at : at + 1] * 2, "x")) + key[at + 1 :] + colon + rest,
        *lines[row + 1 :],
    ]


def retype(lines: Lines, dice: random.Random) -> Lines:
    """A value is of another type."""
    row = _row(lines, dice)
    key, colon, _ = lines[row].partition(":")
    return [*lines[:row], f"{key}{colon or ':'} {dice.choice(VALUES)}", *lines[row + 1 :]]


def drop(lines: Lines, dice: random.Random) -> Lines:
    """A line is missing."""
    row = _row(lines, dice)
    return [*lines[:row], *lines[row + 1 :]] or [""]


def swap(lines: Lines, dice: random.Random) -> Lines:
    """Two lines are swapped."""
    one, other = _row(lines, dice), _row(lines, dice)
    found = list(lines)
    found[one], found[other] = lines[other], lines[one]
    return found


def repeat(lines: Lines, dice: random.Random) -> Lines:
    """A line is repeated."""
    row = _row(lines, dice)
    return [*lines[:row], dice.choice(lines), *lines[row:]]


def shift(lines: Lines, dice: random.Random) -> Lines:
    """A line has the wrong indentation, perhaps a tab."""
    row = _row(lines, dice)
    moved = dice.choice((f"  {lines[row]}", lines[row][2:], f"\t{lines[row].lstrip()}", f"  - {lines[row].lstrip()}"))
    return [*lines[:row], moved, *lines[row + 1 :]]


def cut(lines: Lines, dice: random.Random) -> Lines:
    """The file ends in the middle."""
    text = "\n".join(lines)
    return text[: dice.randrange(len(text) + 1)].split("\n")


def smudge(lines: Lines, dice: random.Random) -> Lines:
    """An extra character, or a few missing ones."""
    text = "\n".join(lines)
    at = dice.randrange(len(text) + 1)
    return (text[:at] + dice.choice((*_CHARACTERS, "")) + text[at + dice.randint(0, 3) :]).split("\n")


def confuse(lines: Lines, dice: random.Random) -> Lines:
    """An unusual line of YAML."""
    row = _row(lines, dice)
    return [*lines[:row], dice.choice(_ROWS), *lines[row:]]


def explode(lines: Lines, dice: random.Random) -> Lines:
    """Nested aliases expand to a billion values, or one alias repeats a long text."""
    return [*lines, *dice.choice(BOMBS)(dice.randint(2, 9))]


def nest(lines: Lines, dice: random.Random) -> Lines:
    """A value is deep inside of others."""
    row, depth = _row(lines, dice), dice.choice((5, 70, 400, 5000))
    key, colon, _ = lines[row].partition(":")
    return [
        *lines[:row],
        f"{key}{colon or ':'} {dice.choice(('[', '{a: ', '- ', '[{a: ', '? ')) * depth}",
        *lines[row + 1 :],
    ]


def laughs(width: int) -> Lines:
    """Lists of lists of lists, each `width` times the one before."""
    rows = [f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * width)}]" for level in range(1, 30)]
    return ["l0: &l0 [lol]", *rows]


def merges(width: int) -> Lines:
    """The same by merge keys."""
    rows = [f"m{level}: &m{level} {{<<: [{', '.join([f'*m{level - 1}'] * width)}]}}" for level in range(1, 30)]
    return ["m0: &m0 {a: b}", *rows]


def chain(width: int) -> Lines:
    """Each mapping is inside of the next one."""
    return ["c0: &c0 {a: b}", *(f"c{level}: &c{level} {{c: *c{level - 1}}}" for level in range(1, 100 * width))]


def texts(width: int) -> Lines:
    """One long text, many times."""
    return [f"t0: &t0 {'x' * 100_000}", f"t1: [{', '.join(['*t0'] * 100 * width)}]"]


BOMBS = (laughs, merges, chain, texts)
ACCIDENTS: tuple[Accident, ...] = (misspell, retype, drop, swap, repeat, shift, cut, smudge, confuse, explode, nest)
# What people do by themselves is most of what happens.
_WEIGHTS = (5, 6, 3, 3, 2, 4, 1, 4, 2, 1, 1)


def damaged(text: str, dice: random.Random) -> str:
    """Return `text` after one to three accidents."""
    lines = text.split("\n")
    for accident in dice.choices(ACCIDENTS, _WEIGHTS, k=dice.choice((1, 1, 2, 3))):
        lines = accident(lines, dice)
    return "\n".join(lines)
