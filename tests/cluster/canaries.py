# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Thirty secrets, a program that writes them in every form, and a search for traces of them.

A canary is a text with two marks of letters and digits, at its beginning and at its end. No quoting or escaping changes
a mark, so to find a mark as it is, in hexadecimal digits or in base64 at any offset is to find the canary in any form,
whole or in part. A place of one's own: a row in `PLACES`, and how the chart hands it to the program.
"""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import re
import secrets
import tarfile
import typing as t
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

import yaml
from samples import IMAGE, Json

# How the secrets get to the program, and what is special in each: what stands between its marks.
PLACES: dict[str, tuple[str, ...]] = {
    # A variable from a Secret, the argument `--token=$(VARIABLE)` of the first.
    "env": ("-", "@/:", "+ =", "'", '"', "\\", "&<>", "$(x)", "é€", "\U0001f600%"),
    # All keys of a Secret.
    "from": ("#?;", "''", '\\"', "\t", "%40", "{}[]|~^"),
    # Files.
    "file": ("/+/", "a b", "\\\\'", "=,=", "!*"),
    # The password of an address, and values in files of settings: what the Secret holds is longer than the canary.
    "url": ("@/", "p+ss:&"),
    "json": ("/+",),
    "dotenv": ("==/",),
    # A file of several lines.
    "key": ("\n",),
    # Values of the chart: named by `redact`, out of a vault, and marked as secret by the chart.
    "redact": ("@/&",),
    "vault": ("'+\"",),
    "marked": (":/@", "\\<"),
}
# What the program does when all is said.
END = "end of the canaries"


@dataclass(frozen=True)
class Canary:
    """One secret; `name` is its name in the program."""

    place: str
    name: str
    marks: tuple[str, str]
    text: str

    @property
    def stored(self) -> str:
        """What the Secret holds."""
        match self.place:
            case "url":
                return f"postgres://trainer:{quote(self.text, safe='')}@db.example.org:5432/runs?sslmode=require"
            case "json":
                return json.dumps({"region": "us-east-1", "hf_token": self.text}).replace("/", "\\/")
            case "dotenv":
                return f"REGION=us-east-1\nHF_TOKEN={self.text}\n"
        return self.text


def canaries() -> list[Canary]:
    """Return new canaries, so that traces of other tests do not match."""
    found = []
    for place, specials in PLACES.items():
        for number, special in enumerate(specials):
            first, last = f"Cq{secrets.token_hex(5)}", f"{secrets.token_hex(5)}qC"
            lines = f"-----BEGIN KEY-----\n{first}abcdefgh\n{last}0123456789\n-----END KEY-----\n"
            text = lines if place == "key" else f"{first}{special}{last}"
            found.append(Canary(place, f"{place}_{number}", (first, last), text))
    return found


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# The forms that the program below writes, each as Python does it.
FORMS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "percent": lambda text: quote(text, safe="-_."),
    "percent_lower": lambda text: re.sub("%..", lambda one: one[0].lower(), quote(text, safe="-_.")),
    "query": lambda text: quote_plus(text, safe="-_."),
    "url": lambda text: f"postgres://u:{quote(text, safe='-_.')}@h/d",
    "json": _json,
    "json_slash": lambda text: _json(text).replace("/", "\\/"),
    "json_utf8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "json_json": lambda text: _json(_json(text)),
    "yaml": lambda text: text.replace("'", "''"),
    "shell": lambda text: text.replace("'", "'\\''"),
    "html": lambda text: html.escape(text).replace("&#x27;", "&#39;"),
    "hex": lambda text: text.encode().hex(),
    "base64_0": _base64,
    "base64_1": lambda text: _base64(f":{text}\n"),
    "base64_2": lambda text: _base64(f"u:{text}x"),
    "base64_url": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64_json": lambda text: _base64(_json(text)),
    "split": str,
    "long": lambda text: "x" * 16380 + text,
    "bar": lambda text: f"\r10% {text}\r20% {text}",
    "stderr": str,
}
PROGRAM = r"""
use strict; $| = 1;
my %all = map { $_ => $ENV{$_} } grep { /^(env|from|redact|vault|marked|url)_/ } keys %ENV;
for my $file (glob '/canaries/*') {
  local $/; open my $in, '<', $file or die $!; $all{$file =~ s{.*/}{}r} = <$in>;
}
for (keys %all) {
  if (/^url_/) { ($all{$_}) = $all{$_} =~ m{:([^:\@]+)\@}; $all{$_} =~ s/%(..)/chr hex $1/ge }
  if (/^json_/) { ($all{$_}) = $all{$_} =~ /"hf_token": "(.*?)"/; $all{$_} =~ s{\\/}{/}g }
  if (/^dotenv_/) { ($all{$_}) = $all{$_} =~ /HF_TOKEN=(.*)/ }
}
sub percent { join '', map { /[\w.~-]/a ? $_ : sprintf '%%%02X', ord } split //, shift }
sub json { my ($s, $ascii) = @_; utf8::decode($s); $s =~ s/([\\"])/\\$1/g; $s =~ s/\t/\\t/g; $s =~ s/\n/\\n/g;
  $s =~ s/([^\x00-\x7f])/join '', map { sprintf '\\u%04x', $_ } pair(ord $1)/ge if $ascii; utf8::encode($s); $s }
sub pair { my $c = shift; $c < 0x10000 ? $c : (0xd800 + (($c - 0x10000) >> 10), 0xdc00 + (($c - 0x10000) & 0x3ff)) }
sub html { my $s = shift; $s =~ s/&/&amp;/g; $s =~ s/</&lt;/g; $s =~ s/>/&gt;/g; $s =~ s/"/&quot;/g;
  $s =~ s/'/&#39;/g; $s }
sub b64 { my $s = shift; my $u = pack 'u', $s; $u =~ s/^.//mg; $u =~ s/\n//g; $u =~ tr#` -_#AA-Za-z0-9+/#;
  my $pad = (3 - length($s) % 3) % 3; substr($u, -$pad) = '=' x $pad if $pad; $u }
my %form = (
  raw => sub { $_[0] }, percent => \&percent, percent_lower => sub { percent($_[0]) =~ s/(%..)/lc $1/ger },
  query => sub { percent($_[0]) =~ s/%20/+/gr }, url => sub { 'postgres://u:' . percent($_[0]) . '@h/d' },
  json => sub { json($_[0], 1) }, json_slash => sub { json($_[0], 1) =~ s{/}{\\/}gr },
  json_utf8 => sub { json($_[0], 0) }, json_json => sub { json(json($_[0], 1), 1) },
  yaml => sub { $_[0] =~ s/'/''/gr }, shell => sub { $_[0] =~ s/'/'\\''/gr }, html => sub { html($_[0]) },
  hex => sub { unpack 'H*', $_[0] }, base64_0 => sub { b64($_[0]) }, base64_1 => sub { b64(":$_[0]\n") },
  base64_2 => sub { b64("u:$_[0]x") }, base64_url => sub { b64($_[0]) =~ tr#+/#-_#r },
  base64_json => sub { b64(json($_[0], 1)) }, long => sub { 'x' x 16380 . $_[0] },
  bar => sub { "\r10% $_[0]\r20% $_[0]" },
);
print "argv @ARGV\n";
for my $name (sort keys %all) {
  my $text = $all{$name};
  print "$name $_ ", $form{$_}->($text), "\n" for sort keys %form;
  my $half = int(length($text) / 2);
  print "$name split ", substr($text, 0, $half); select undef, undef, undef, 0.05; print substr($text, $half), "\n";
}
# Of lines that are written to both at once nobody knows the order.
select undef, undef, undef, 0.5;
print STDERR "$_ stderr $all{$_}\n" for sort keys %all;
select undef, undef, undef, 0.5;
print "end of the canaries\n";
open my $last, '>', '/dev/termination-log' or die $!;
print $last "it failed with $all{env_1} and $all{url_0}\n";
close $last;
if ($ENV{GATED}) { system 'touch /tmp/gate'; select undef, undef, undef, 0.1 until -e '/tmp/go' }
exit $ENV{CODE};
"""
_TEMPLATE = """
apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}}
spec:
  backoffLimit: 0
  template:
    metadata: {labels: {app.kubernetes.io/instance: {{ .Release.Name }}}}
    spec: {{ toJson .Values.pod }}
"""


def expected(canary: Canary) -> list[str]:
    """Return what the program writes of a canary, as it is in the container's log."""
    return [f"{canary.name} {form} {write(canary.text)}" for form, write in FORMS.items()]


def write_chart(directory: Path) -> Path:
    """Write a chart that renders a Job with the pod of its values; values `marked_*` are secret."""
    (directory / "templates").mkdir(parents=True)
    metadata = {"apiVersion": "v2", "name": directory.name, "version": "1.0.0"}
    (directory / "Chart.yaml").write_text(json.dumps(metadata), encoding="utf-8")
    inserted = "".join(
        f'{{{{- $_ := set (index .Values.pod.containers 0) "env" (append (index .Values.pod.containers 0).env '
        f'(dict "name" "{name}" {given})) }}}}\n'
        for name, given in _values()
    )
    (directory / "templates" / "job.yaml").write_text(inserted + _TEMPLATE.lstrip(), encoding="utf-8")
    secret = {"writeOnly": True, "type": ["string", "object"]}
    schema = {"type": "object", "properties": {name: secret for name, _ in _values() if name.startswith("marked")}}
    (directory / "values.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    return directory


def _values() -> Iterator[tuple[str, str]]:
    """Yield the values of the chart that are secret, and how each becomes a variable."""
    for place in ("redact", "vault", "marked"):
        for number in range(len(PLACES[place])):
            name = f"{place}_{number}"
            yield name, f'"valueFrom" .Values.{name}' if place == "marked" else f'"value" .Values.{name}'


def recipe(*, code: int = 0, gated: bool = False) -> Json:
    """Return the values of the chart but for the secret ones."""
    env = [
        {"name": f"{place}_{number}", "valueFrom": {"secretKeyRef": {"name": "canary-env", "key": f"{place}_{number}"}}}
        for place in ("env", "url")
        for number in range(len(PLACES[place]))
    ]
    container = {
        "name": "main",
        "image": IMAGE,
        "command": ["perl", "-e", PROGRAM, "--"],
        "args": ["--token=$(env_0)", "--url=$(url_0)"],
        "env": [*env, {"name": "CODE", "value": str(code)}, {"name": "GATED", "value": "1" if gated else ""}],
        "envFrom": [{"secretRef": {"name": "canary-from"}}],
        "volumeMounts": [{"name": "canaries", "mountPath": "/canaries"}],
    }
    volumes = [{"name": "canaries", "secret": {"secretName": "canary-file"}}]
    return {"pod": {"restartPolicy": "Never", "containers": [container], "volumes": volumes}}


def kubernetes_secrets(found: Iterable[Canary]) -> Iterator[Json]:
    """Yield the Secrets that the pod refers to."""
    holds = {"env": ("env", "url"), "from": ("from",), "file": ("file", "json", "dotenv", "key")}
    for name, places in holds.items():
        content = {one.name: one.stored for one in found if one.place in places}
        yield {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"canary-{name}"}, "stringData": content}


class Search:
    """Finds traces of canaries in files and in objects of a cluster."""

    def __init__(self, found: Iterable[Canary]) -> None:
        self._names: dict[bytes, str] = {}
        for canary in found:
            for mark in canary.marks:
                self._names |= dict.fromkeys(_forms_of(mark.encode()), canary.name)

    def names(self, data: bytes) -> set[str]:
        """Return the canaries in a text, an archive, or compressed data."""
        for opened in _opened(data):
            data += b"\n" + opened
        return {name for form, name in self._names.items() if form in data}

    def files(self, *directories: Path) -> dict[str, set[str]]:
        """Return the files with canaries, by path; names of files count as well."""
        found = {}
        for directory in directories:
            for path in directory.rglob("*"):
                data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                if names := self.names(data) | self.names(str(path).encode()):
                    found[str(path)] = names
        return found

    def objects(self, entries: Iterable[Json]) -> dict[str, set[str]]:
        """Return the objects with canaries, by kind and name; what is in Secrets is decoded, Helm's releases too."""
        found = {}
        for entry in entries:
            data = json.dumps(entry, ensure_ascii=False).encode()
            for value in (entry.get("data") or {}).values() if entry["kind"] == "Secret" else ():
                data += b"\n" + base64.b64decode(value)
                if entry.get("type") == "helm.sh/release.v1":
                    data += b"\n" + gzip.decompress(base64.b64decode(base64.b64decode(value)))
            if names := self.names(data):
                found[f"{entry['kind']}/{entry['metadata']['name']}"] = names
        return found


def _forms_of(mark: bytes) -> Iterator[bytes]:
    yield mark
    yield mark.hex().encode()
    yield mark.hex().upper().encode()
    for before in range(3):
        coded = base64.b64encode(bytes(before) + mark)
        # Letters and digits have no character in which the two alphabets differ.
        yield coded[-(-8 * before // 6) : 8 * (before + len(mark)) // 6]


def _opened(data: bytes) -> Iterator[bytes]:
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
        yield data
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            yield from (t.cast(t.IO[bytes], archive.extractfile(one)).read() for one in archive if one.isfile())


def write_given(path: Path, found: Iterable[Canary], encrypt: Callable[[str], str]) -> Path:
    """Write the user's file of variables: values of the chart, one of them vaulted, and what `redact` is to name."""
    values = {one.name: one.text for one in found if one.place in ("redact", "marked")}
    vaulted = {one.name: encrypt(one.text) for one in found if one.place == "vault"}
    lines = yaml.safe_dump({"recipe_values": values}).rstrip("\n").splitlines()
    for name, text in vaulted.items():
        lines += [f"  {name}: !vault |", *(f"    {line}" for line in text.splitlines())]
    redact = [one.text for one in found if one.place == "redact"]
    path.write_text("\n".join(lines) + "\n" + yaml.safe_dump({"redact": redact}), encoding="utf-8")
    return path
