"""Packages: equal charts are equal bytes, hostile ones harm nobody, and the cache holds them whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import threading
import time
from pathlib import Path

import pytest
from fakes.sources import chart

from ansible_collections.mlops.eks.plugins.module_utils._charts import package as packages
from ansible_collections.mlops.eks.plugins.module_utils._charts.package import pack, sha256, unpack
from ansible_collections.mlops.eks.plugins.module_utils._charts.reference import Reference
from ansible_collections.mlops.eks.plugins.module_utils._charts.store import FetchedChart, Store
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import SourceError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.chart import digest


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as made:
        for member, content in members:
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return raw.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


def test_what_is_packed_comes_out_again(tmp_path: Path) -> None:
    source = chart(tmp_path / "app")
    (source / "charts").mkdir()
    (source / "charts" / "lib").symlink_to(chart(tmp_path / "lib"))
    (source / ".git").mkdir()
    (source / ".git" / "config").write_text("no chart", encoding="utf-8")
    unpack(pack(source, "app"), tmp_path / "out", shown="app")
    assert digest(tmp_path / "out") == digest(source)
    assert (tmp_path / "out/charts/lib/Chart.yaml").is_file()
    assert not (tmp_path / "out/.git").exists()


def test_equal_charts_are_equal_bytes(tmp_path: Path) -> None:
    one, two = chart(tmp_path / "1" / "app"), chart(tmp_path / "2" / "app")
    os.utime(two / "Chart.yaml", (1, 1))
    assert pack(one, "app") == pack(two, "app")
    assert pack(one, "app") != pack(chart(tmp_path / "3" / "app", says="else"), "app")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html>", "its package cannot be unpacked: Not a gzipped file"),
        (b"", "its package cannot be unpacked"),
        (archive((member("app/values.yaml"), b"")), "its package holds no Chart.yaml."),
        (archive((member("app/../../x"), b"x")), "'app/../../x' is not a file below its directory"),
        (archive((member("/app/x"), b"x")), "'/app/x' is not a file below its directory"),
        (archive((member("app/x", tarfile.SYMTYPE, "/etc/passwd"), b"")), "'app/x' is not a file below its directory"),
        (archive((member("app/x", tarfile.LNKTYPE, "app/y"), b"")), "'app/x' is not a file below its directory"),
        (archive((member("app/x", tarfile.FIFOTYPE), b"")), "'app/x' is not a file below its directory"),
        (archive((member("app/Chart.yaml"), b"name: x"))[:-9], "its package cannot be unpacked"),
    ],
    ids=range(9),
)
def test_what_is_no_chart_is_refused_and_not_kept(tmp_path: Path, content: bytes, words: str) -> None:
    store = Store(tmp_path / "store")
    with pytest.raises(SourceError) as caught:
        store.add(content, shown="app")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "store").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_package_that_swells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.bounds, "CHART", 2**20)
    content = archive((member("app/Chart.yaml"), b"name: x"), (member("app/x"), bytes(2**20)))
    with pytest.raises(SourceError, match="more than 1 MiB unpacked"):
        Store(tmp_path).add(content, shown="app")


def _sparse(size: int) -> bytes:
    """Return a package with a sparse file of GNU tar's old form, which says how large it is and holds nothing."""
    header = bytearray(tarfile.TarInfo("app/x").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:410] = b"%011o\0%011o\0" % (size, 0)
    header[483:495] = b"%011o\0" % size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return gzip.compress(bytes(header) + bytes(1024))


def test_a_sparse_file_is_refused_before_it_is_written(tmp_path: Path) -> None:
    content = _sparse(700 * 2**20)
    assert len(content) < 300
    with pytest.raises(SourceError, match="'app/x' is not a file below its directory"):
        Store(tmp_path).add(content, shown="app")
    assert list(tmp_path.iterdir()) == []


def test_a_package_of_too_many_or_too_deep_or_too_large_files_is_refused(tmp_path: Path) -> None:
    start = (member("app/Chart.yaml"), b"name: x")
    cases = {
        "more than 10000 files": [start, *((member(f"app/{number}"), b"") for number in range(10_001))],
        "more than 32 directories deep": [start, (member("app/" + "a/" * 40 + "b"), b"")],
        "larger than 5 MiB, which Helm does not take": [start, (member("app/x"), bytes(6 * 2**20))],
    }
    for words, members in cases.items():
        with pytest.raises(SourceError, match=words):
            Store(tmp_path).add(archive(*members), shown="app")
    assert list(tmp_path.iterdir()) == []


def test_the_store_keeps_each_package_once(tmp_path: Path) -> None:
    content = pack(chart(tmp_path / "app"), "app")
    store, digests = Store(tmp_path / "store"), []
    threads = [threading.Thread(target=lambda: digests.append(store.add(content, shown="app"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(digests) == {sha256(content)}
    assert len(digests) == 8
    assert [path.name for path in (tmp_path / "store").iterdir()] == [sha256(content).replace(":", "-")]
    assert store.package(digests[0]).read_bytes() == content
    assert (store.chart(digests[0]) / "Chart.yaml").is_file()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    with pytest.raises(SourceError) as caught:
        Store(tmp_path / "cache" / "charts").add(pack(chart(tmp_path / "app"), "app"), shown="app")
    assert f"cache {tmp_path}/cache/charts: " in str(caught.value)
    assert "Set MLOPS_EKS_CACHE" in str(caught.value)


def test_what_a_source_gave_is_remembered_as_long_as_it_is_here(tmp_path: Path) -> None:
    store = Store(tmp_path)
    asked = Reference(chart="app", repo="https://h", version="~1.0")
    assert store.recall(asked) is None
    given = FetchedChart(digest=sha256(b""), version="1.0.7", immutable=True)
    store.remember(asked, given)
    assert store.recall(asked) is None
    kept = FetchedChart(digest=store.add(pack(chart(tmp_path / "app"), "app"), shown="app"), version="1.0.0")
    store.remember(asked, kept)
    assert store.recall(asked) == kept
    assert store.recall(Reference(chart="app", repo="https://h", version="1.0")) is None
    for note in (tmp_path / "given").iterdir():
        note.write_text("{", encoding="utf-8")
    assert store.recall(asked) is None


def test_what_nobody_asks_for_goes_when_something_new_comes(tmp_path: Path) -> None:
    store, long_ago = Store(tmp_path / "cache"), time.time() - 91 * 86400
    kept, asked = {}, {}
    for name in ("forgotten", "used"):
        asked[name] = Reference(chart=name, repo="https://h", version="1.0.0")
        kept[name] = store.add(pack(chart(tmp_path / name), name), shown=name)
        store.remember(asked[name], FetchedChart(digest=kept[name]))
    (store.root / ".new-killed").mkdir()
    for path in (*store.root.iterdir(), *store.root.glob("given/*")):
        os.utime(path, (long_ago, long_ago))

    assert store.recall(asked["used"]) == FetchedChart(digest=kept["used"])
    store.add(pack(chart(tmp_path / "new"), "new"), shown="new")

    assert store.recall(asked["used"]) == FetchedChart(digest=kept["used"])
    assert (store.chart(kept["used"]) / "Chart.yaml").is_file()
    assert not store.has(kept["forgotten"])
    assert len(list(store.root.iterdir())) == len(["used", "new", "given"])
    assert len(list(store.root.glob("given/*"))) == 1
