# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Secrets are found however a program writes them, whole or in pieces, and that costs little."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
import subprocess
import time
import typing as t
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core import secret_mask as masking
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_encodings import _pieces, forms
from ansible_collections.mlops.eks.plugins.module_utils._core.secret_mask import MASKED, Mask

Write = Callable[[str], str]


def inside(text: str, before: str = "", after: str = "") -> str:
    return base64.b64encode(f"{before}{text}{after}".encode()).decode()


# How programs write a text, each as the whole of what they write.
WRITTEN: dict[str, Write] = {
    "as it is": str,
    "percent": lambda text: quote(text, safe=""),
    "percent, path": quote,
    "percent, lower case": lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text, safe="")),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "form": quote_plus,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON with \\/": lambda text: json.dumps(text).replace("/", "\\/"),
    "JSON of Go": lambda text: re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04X}", json.dumps(text)),
    "JSON in JSON": lambda text: json.dumps({"b": json.dumps({"t": text})}),
    "JSON in a URL": lambda text: quote(json.dumps(text), safe=""),
    "repr": repr,
    "ascii": ascii,
    "repr of bytes": lambda text: repr(text.encode()),
    "YAML, single quotes": lambda text: yaml.dump(text, default_style="'", width=10**6),
    "YAML, double quotes": lambda text: yaml.dump(text, default_style='"', width=10**6),
    "CSV": lambda text: '"' + text.replace('"', '""') + '"',
    "shell": shlex.quote,
    "shell, \\'": lambda text: "'" + text.replace("'", "'\\''") + "'",
    "shell, backslashes": lambda text: re.sub(r"([^\w.-])", r"\\\1", text),
    "HTML": html.escape,
    "HTML, numbers": lambda text: re.sub("[<>&\"']", lambda found: f"&#{ord(found[0])};", text),
    "HTML, hexadecimal": lambda text: re.sub("[<>&\"']", lambda found: f"&#x{ord(found[0]):X};", text),
    "octal": lambda text: re.sub(rb"[^\w.-]", lambda found: b"\\%03o" % found[0][0], text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "HEXADECIMAL": lambda text: text.encode().hex().upper(),
    "base64": inside,
    "base64 of a line": lambda text: inside(text, after="\n"),
    "base64, one byte before": lambda text: inside(text, ":", "x"),
    "base64, two bytes before": lambda text: inside(text, "a:", "yz"),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 of JSON": lambda text: inside(json.dumps({"a": text})),
    "base64 of a URL": lambda text: inside(f"postgres://u:{quote(text, safe='')}@db"),
    "base64 in JSON": lambda text: inside(text, "ab").replace("/", "\\/"),
    "base64 in a URL": lambda text: quote(inside(text), safe=""),
}
# Those that end where the secret does share a few bits with what stands around it.
EXACT = [name for name in WRITTEN if not name.startswith(("base64", "hex", "HEX"))]
SECRETS = (
    "s3cr3t-token",
    "p@ss/w0rd+x=y&z",
    'it\'s "quoted" and \\slashed\\ twice',
    "grün€weiß-😀pass",
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "<tag attr='1'>&amp;100%</tag>",
    "tab\there",
    "''''\"\"\\\\\\\\end1",
    "#$%^&*()!",
)


def leaks(secret: str, text: str) -> bool:
    """Return whether a good part of a secret can be read in a text."""
    parts = re.findall(r"[A-Za-z0-9]{5,}", secret)
    return any(part in text for part in parts) or secret in text


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_however_it_is_written(secret: str, name: str) -> None:
    written = WRITTEN[name](secret)
    masked = Mask([secret]).text(f"before {written} after")
    assert MASKED.decode() in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert not leaks(secret, masked)
    if name in EXACT:
        # What is around it is left, but for quotes.
        around = WRITTEN[name]("PLACEHOLDER").replace("PLACEHOLDER", MASKED.decode())
        assert unquoted(masked) == unquoted(f"before {around} after")


def unquoted(text: str) -> str:
    return re.sub(r"%(?:25)*(?:22|5C)|[\"'\\]", "", text)


def test_quoting_of_bash_is_found() -> None:
    """`set -x` and `printf %q`, as a shell really does it."""
    secret = 'it\'s "a" \\ $(x) & p@ss\tword'
    done = subprocess.run(["bash", "-c", 'printf "%q\n" "$1"', "-", secret], capture_output=True, text=True, check=True)
    assert not leaks(secret, Mask([secret]).text(done.stdout)), done.stdout
    script = 'set -x; : "$1"'
    done = subprocess.run(["bash", "-c", script, "-", secret], capture_output=True, text=True, check=True)
    assert Mask([secret]).text(done.stderr).strip() in ("+ : '********'", "+ : $'********'")


@settings(deadline=None)
@given(
    st.text(st.sampled_from("abcXYZ019-_./+=&%@:'\"\\ #$<>é€\t"), min_size=9, max_size=40).filter(
        lambda text: bool(re.search(r"[A-Za-z0-9]{3}", text)) and text == text.strip()
    ),
    st.sampled_from(EXACT),
    st.lists(st.integers(1, 40), max_size=60),
)
def test_in_pieces_it_is_found_as_in_the_whole_line(secret: str, name: str, sizes: list[int]) -> None:
    """As when a program writes half of a secret, waits, and writes the rest; and on lines of any length."""
    mask = Mask([secret])
    data = f"x{WRITTEN[name](secret)}y{secret}{secret}z".encode() * 3
    whole, done, rest = mask.lines(data), b"", b""
    assert MASKED in whole
    for size in sizes:
        piece, rest = mask.partial_line(rest + data[:size])
        data, done = data[size:], done + piece
    assert done + mask.lines(rest + data) == whole


def test_a_piece_is_given_out_although_secrets_follow_each_other_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_HELD", 1000)
    mask = Mask(["hunter22"])
    done, rest = b"", b""
    for _ in range(100):
        piece, rest = mask.partial_line(rest + b"hunter22" * 100)
        done += piece
        assert len(rest) < 4000
    assert set(done) == set(MASKED)


@pytest.mark.parametrize("secret", SECRETS)
def test_the_longest_form_is_known(secret: str) -> None:
    for form in forms(secret.encode()):
        # `sre` alone knows how long a match may be; it is no public part of Python.
        parser: t.Any = __import__("re._parser", fromlist=["parse"])
        assert parser.parse(form.pattern).getwidth()[1] <= form.longest
        assert form.anchor in secret.encode() or len(form.anchor) >= 1


def test_part_of_a_long_secret_is_found() -> None:
    """A token that somebody cut off, as Kubernetes does in messages."""
    token = "".join(f"{number:05d}" for number in range(300))
    assert Mask([token]).text(f"refused: {token[:1000]}...").count("*") == 8
    assert len(Mask([token]).text(f"{token[:1000]}...")) < 8 + 128 + 3


@given(st.integers(1, 40000))
def test_no_piece_of_a_long_secret_is_a_word_that_other_texts_have(length: int) -> None:
    assert all(len(piece) >= min(length, 64) for piece in _pieces(b"x" * length))


def test_the_password_of_an_address_is_a_secret_too() -> None:
    mask = Mask(["postgres://trainer:p%40ss%2Fw0rd@db.example.org:5432/runs?sslmode=require"])
    assert mask.text("user trainer, password p@ss/w0rd") == "user trainer, password ********"
    assert mask.text("login trainer:p%40ss%2fw0rd@replica") == "login trainer:********@replica"


@pytest.mark.parametrize(
    "content",
    [
        '{"hf_token": "hf_abc\\/12\\"345", "region": "us-east-1", "private_key_id": "x"}',
        "REGION=us-east-1\nexport HF_TOKEN='hf_abc/12\"345'\n",
        'region: us-east-1\nhf_token: hf_abc/12"345\n',
        'machine hub.example.org login trainer password hf_abc/12"345\n',
    ],
)
def test_what_a_file_of_settings_calls_a_secret_is_one(content: str) -> None:
    assert Mask([content]).text('us-east-1 used hf_abc/12"345 there') == "us-east-1 used ******** there"


def test_short_lines_of_a_file_are_secrets_when_they_look_like_passwords() -> None:
    mask = Mask(["first-pw1\nsecond-pw2\nkind: Config\nclusters:\n"])
    assert mask.text("first-pw1 second-pw2 clusters: kind: Config") == "******** ******** clusters: kind: Config"


def test_ordinary_text_is_left_alone() -> None:
    mask = Mask([*SECRETS, "abc"])
    text = "step 1/100 loss=0.5 'quoted' \"x\" \\n %20 &amp; ../path?a=b abd YWJj\n"
    assert mask.text(text) == text


def test_thousands_of_secrets_cost_no_more_than_a_few() -> None:
    """The text is gone through once for all of them: measured, that is a factor of about one."""
    text = b"".join(b"step %d loss=%f /fsx/checkpoint-%d.pt\n" % (step, 1 / (step + 1), step) for step in range(20000))

    def seconds(count: int) -> float:
        mask = Mask(f"{number * 7919:08x}-{number * 104729:012x}-token" for number in range(count))
        found = []
        for _ in range(3):
            begun = time.process_time()
            assert mask.lines(text) == text
            found.append(time.process_time() - begun)
        return min(found)

    assert seconds(3000) < 20 * seconds(10) + 0.2


@pytest.mark.parametrize("tail", ["\\" * 20000, "%25" * 7000, "'" * 20000, "&amp;" * 4000, '"' * 20000])
def test_a_line_that_almost_matches_is_no_trap(tail: str) -> None:
    secret = "abcdefgh\\\\\\''\"\"%%&&end"
    begun = time.process_time()
    Mask([secret]).text(f"abcdefgh{tail}x" * 3)
    assert time.process_time() - begun < 5
