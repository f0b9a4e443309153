"""The small things everything stands on."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.mlops.eks.plugins.module_utils._core import errors
from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, from_iso, human, iso, micro
from ansible_collections.mlops.eks.plugins.module_utils._core.files import (
    to_json,
    to_yaml,
    to_yaml_stream,
    write_atomically,
)
from ansible_collections.mlops.eks.plugins.module_utils._core.nearest import did_you_mean, nearest
from ansible_collections.mlops.eks.plugins.module_utils._core.units import quantity


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        (2, 2.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("500m", 0.5),
        ("100n", 1e-7),
        ("3u", 3e-6),
        ("1k", 1e3),
        ("1M", 1e6),
        ("2G", 2e9),
        ("1E", 1e18),
        ("1e3", 1e3),
        ("1E3", 1e3),
        ("1Ki", 1024.0),
        ("1.5Gi", 1.5 * 2**30),
        ("1Ei", 2.0**60),
        ("-1", -1.0),
    ],
)
def test_quantity(text: str, number: float) -> None:
    assert quantity(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["", "x", "1 Gi", "1gb", "1ki", "1i", "Gi", ".", "1.2.3", "1GiB"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        quantity(text)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (8.4, "8 s"),
        (59.6, "1 min"),
        (125, "2 min 5 s"),
        (3599.7, "1 h"),
        (11040, "3 h 4 min"),
        (90000, "25 h"),
    ],
)
def test_human(seconds: float, said: str) -> None:
    assert human(seconds) == said


@given(st.floats(0, 4e9))
def test_times_survive_their_text(seconds: float) -> None:
    assert from_iso(iso(seconds)) == pytest.approx(seconds, abs=0.0011)
    assert from_iso(micro(seconds)) == pytest.approx(seconds, abs=1e-5)


def test_from_iso_reads_what_kubernetes_and_kubelet_write() -> None:
    plain = datetime.datetime(2026, 11, 21, 9, 15, 2, tzinfo=datetime.UTC).timestamp()
    assert from_iso("2026-11-21T09:15:02Z") == plain
    assert from_iso("2026-11-21T10:15:02+01:00") == plain
    assert from_iso("2026-11-21T09:15:02.123456789Z") == pytest.approx(plain + 0.123456, abs=1e-6)


def test_the_clock_does_not_follow_corrections(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    before = clock.now()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert clock.now() >= before


def test_nearest() -> None:
    assert nearest("nnode", ["nnodes", "image"]) == "nnodes"
    assert nearest("zzz", ["nnodes", "image"]) is None
    assert did_you_mean("imag", ["nnodes", "image"]) == " Did you mean 'image'?"
    assert did_you_mean("zzz", ["b", "a"]) == " Known: a, b."
    assert did_you_mean("zzz", []) == ""
    assert nearest("n" * 1_000_000, ["n" * 99]) is None


def test_errors_are_one_tree_with_details() -> None:
    for name in vars(errors):
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert issubclass(kind, errors.EksError)
            assert name in (errors.__doc__ or "")
    assert errors.CommandError("m", rc=3).to_result() == {"msg": "m", "rc": 3}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "step.json"
    write_atomically(path, "one")
    write_atomically(path, "twö")
    assert path.read_text(encoding="utf-8") == "twö"
    assert path.stat().st_mode & 0o777 == 0o644
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text(encoding="utf-8") == "twö"
    assert [entry.name for entry in path.parent.iterdir()] == ["step.json"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640), (0o002, 0o664)])
def test_a_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "shared", "x")
        write_atomically(tmp_path / "private", "x", private=True)
        write_atomically(tmp_path / "bounded", "x", mode=0o640)
    finally:
        os.umask(before)
    assert (tmp_path / "shared").stat().st_mode & 0o777 == mode
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "bounded").stat().st_mode & 0o777 == mode & 0o640


def test_a_file_that_is_private_stays_so(tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", "x", private=True)
    write_atomically(tmp_path / "file", "y")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_yaml_keeps_order_and_scripts() -> None:
    document = {"z": 1, "a": "line one\nline two\n", "n": None, "t": "12:30:00", "y": "yes"}
    text = to_yaml(document)
    assert text.index("z:") < text.index("a:")
    assert "a: |\n  line one\n  line two\n" in text
    assert yaml.safe_load(text) == document
    assert list(yaml.safe_load_all(to_yaml_stream([document, {"b": []}]))) == [document, {"b": []}]
    assert json.loads(to_json(document)) == document
