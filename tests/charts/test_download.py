"""files/download.py of the charts that download data, against a server on this machine."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import chart_cases
import pytest
from chart_cases import CHARTS, Render, having, of_kind
from chart_script import make
from fakes.http import Exchange, Server

DATA_CHARTS = having("download")
CONTENT = bytes(range(256)) * 2000
Run = Callable[..., tuple[int, str]]


def archive(**files: str) -> bytes:
    """Return a zip of files; `a__b` is the name a/b."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, text in files.items():
            made.writestr(name.replace("__", "/"), text)
    return buffer.getvalue()


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program as a module, which waits for nothing between its attempts."""
    module = chart_cases.program("download", CHARTS / "common/files/download.py")
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    return module


@pytest.fixture
def run(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Download items to `data`. Returns the exit status and what was written: one line of errors where it failed."""

    def run(*items: dict[str, Any]) -> tuple[int, str]:
        monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setenv("DOWNLOADS", json.dumps(items))
        status = program.main()
        out, err = capsys.readouterr()
        assert len(err.splitlines()) == (1 if status else 0)
        return status, err if status else out

    return run


class Source:
    """Serves contents by path, and the rest of a file by its ETag; `cuts` are the bytes after which answers break."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.cuts: list[int] = []
        self.status: list[int] = []
        self.etag = '"one"'
        self.server = Server(self._answer)

    def item(self, content: bytes = CONTENT, name: str = "data.bin", **more: Any) -> dict[str, Any]:
        self.contents[f"/{name}"] = content
        return {"url": f"{self.server.url}/{name}", "path": name, **more}

    def gets(self) -> list[str | None]:
        """Return the ranges that were asked for, None for a whole file."""
        return [one.headers["Range"] for one in self.server.requests if one.method == "GET"]

    def _answer(self, exchange: Exchange) -> None:
        if self.status:
            exchange.reply(b"", self.status.pop(0))
            return
        content = self.contents.get(exchange.path)
        if content is None:
            exchange.reply(b"", 404)
            return
        asked = exchange.headers["Range"]
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        if not asked or exchange.headers["If-Range"] != self.etag:
            start = 0
        elif start >= len(content):
            exchange.reply(b"", 416, Content_Range=f"bytes */{len(content)}")
            return
        headers = {"ETag": self.etag, "Content-Length": str(len(content) - start)}
        if self.cuts and exchange.method == "GET":
            exchange.reply(content[start : self.cuts.pop(0)], 206 if start else 200, **headers)
            exchange.cut()
        else:
            exchange.reply(content[start:], 206 if start else 200, **headers)


@pytest.fixture
def source() -> Iterator[Source]:
    found = Source()
    yield found
    found.server.close()


def digest(content: bytes, algorithm: str = "sha256") -> str:
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"


def test_a_file_is_downloaded_once(source: Source, run: Run, tmp_path: Path) -> None:
    item = source.item(name="sub/data.bin", checksum=digest(CONTENT))
    assert run(item)[0] == 0
    assert (tmp_path / "data/sub/data.bin").read_bytes() == CONTENT
    assert source.gets() == [None]
    status, shown = run(item)
    assert (status, source.gets()) == (0, [None])
    assert "complete" in shown
    assert [path.suffix for path in (tmp_path / "data/.downloads").iterdir()] == [".json"]


def test_a_truncated_file_is_downloaded_again(source: Source, run: Run, tmp_path: Path) -> None:
    item = source.item()
    run(item)
    (tmp_path / "data/data.bin").write_bytes(CONTENT[:-1])
    assert run(item)[0] == 0
    assert (tmp_path / "data/data.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize(("present", "kept"), [(CONTENT, True), (CONTENT[:-1], False)])
def test_a_file_of_somebody_else_is_kept_when_it_is_the_same(
    source: Source, run: Run, tmp_path: Path, present: bytes, kept: bool, checked: bool
) -> None:
    """By its checksum, or else its size: what the reference system has downloaded, or cut short."""
    item = source.item(**({"checksum": digest(CONTENT)} if checked else {}))
    (tmp_path / "data").mkdir()
    (tmp_path / "data/data.bin").write_bytes(present)
    assert run(item)[0] == 0
    assert source.gets() == ([] if kept else [None])
    assert (tmp_path / "data/data.bin").read_bytes() == CONTENT


def test_a_broken_connection_goes_on_where_it_ended(source: Source, run: Run, tmp_path: Path) -> None:
    source.cuts = [1000, 3000]
    status, shown = run(source.item(checksum=digest(CONTENT, "md5")))
    assert status == 0
    assert "attempt 2 of 5" in shown
    assert source.gets() == [None, "bytes=1000-", "bytes=3000-"]
    assert (tmp_path / "data/data.bin").read_bytes() == CONTENT


def test_the_next_run_goes_on_where_the_last_one_ended(source: Source, run: Run, tmp_path: Path) -> None:
    source.cuts = [1000, 2000, 3000, 4000, 5000]
    status, shown = run(source.item())
    assert status == 1
    assert "the connection ended after 5 KiB of 500 KiB" in shown
    assert not (tmp_path / "data/data.bin").exists()
    assert run(source.item())[0] == 0
    assert source.gets()[-1] == "bytes=5000-"
    assert (tmp_path / "data/data.bin").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_begins_again(source: Source, run: Run, tmp_path: Path) -> None:
    source.cuts = [1000] * 5
    run(source.item())
    source.etag = '"two"'
    new = CONTENT[::-1]
    assert run(source.item(new))[0] == 0
    assert (tmp_path / "data/data.bin").read_bytes() == new


def test_a_part_that_is_whole_is_taken(
    source: Source, run: Run, program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ended between the last byte and the rename."""
    item = source.item(checksum=digest(CONTENT))
    with monkeypatch.context() as patched:
        patched.setattr(program.Download, "_matches", lambda self, path: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(item)
    assert run(item)[0] == 0
    assert source.gets() == [None, f"bytes={len(CONTENT)}-"]
    assert (tmp_path / "data/data.bin").read_bytes() == CONTENT


def test_other_content_than_the_checksum_says_is_refused(source: Source, run: Run, tmp_path: Path) -> None:
    status, shown = run(source.item(checksum=digest(b"other")))
    assert status == 1
    assert "does not have the checksum sha256:" in shown
    assert source.gets() == [None]
    assert not (tmp_path / "data/data.bin").exists()


@pytest.mark.parametrize(
    ("statuses", "status", "words", "requests"),
    [
        ([503, 429], 0, "the server answers 503", 3),
        ([503] * 5, 1, "the server answers 503", 5),
        ([403], 1, "the server answers 403", 1),
    ],
)
def test_answers_of_the_server(
    source: Source, run: Run, statuses: list[int], status: int, words: str, requests: int
) -> None:
    source.status = statuses
    got, shown = run(source.item())
    assert got == status
    assert words in shown
    assert len(source.gets()) == requests


def test_a_server_that_is_not_there(run: Run) -> None:
    status, shown = run({"url": "http://127.0.0.1:1/x", "path": "x"})
    assert status == 1
    assert "http://127.0.0.1:1/x: [Errno 111] Connection refused" in shown


def test_an_archive_is_unpacked_and_its_directories_are_replaced(source: Source, run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "train").mkdir(parents=True)
    (data / "train" / "half").write_text("of an unzip that was ended")
    content = archive(train__a="1", train__b="2", readme="3")
    item = source.item(content, "x.zip", path=".", unpack=True, checksum=digest(content))
    assert run({**item, "path": "."})[0] == 0
    found = {str(path.relative_to(data)) for path in data.rglob("*") if path.is_file()}
    assert {name for name in found if not name.startswith(".downloads")} == {"train/a", "train/b", "readme"}
    assert len(list((data / ".downloads").iterdir())) == 1
    assert run(item)[0] == 0
    assert source.gets() == [None]
    (data / "readme").unlink()
    assert run(item)[0] == 0
    assert (data / "readme").read_text() == "3"


def test_an_archive_that_is_none(source: Source, run: Run) -> None:
    status, shown = run(source.item(b"<html>", "x.zip", unpack=True))
    assert status == 1
    assert "not a whole zip archive" in shown


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"url": "http://127.0.0.1:1/x", "path": "../x"}, "downloads: the path ../x leads out of"),
        (None, "there is nothing to download: name files under downloads"),
    ],
)
def test_bad_items(run: Run, item: dict[str, str] | None, words: str) -> None:
    status, shown = run(*([item] if item else []))
    assert status == 1
    assert words in shown


def test_a_place_that_cannot_be_written_is_named(source: Source, run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    status, shown = run(source.item())
    assert status == 1
    assert f"{tmp_path}/data" in shown


@pytest.mark.parametrize("chart", DATA_CHARTS)
def test_the_job_downloads(chart: str, render: Render, source: Source, tmp_path: Path) -> None:
    """The chart's own script and environment, with files of this machine."""
    values = {
        "pvc": {"mount_path": str(tmp_path), "data_path": "data"},
        "downloads": [source.item(name="it's.bin", checksum=digest(CONTENT))],
    }
    job = of_kind(render(chart, values), "Job")
    container = job["spec"]["template"]["spec"]["containers"][0]
    environment = {one["name"]: one["value"] for one in container["env"]}
    assert environment["DATA_DIR"] == f"{tmp_path}/data"
    script = make(render, tmp_path, chart, values)
    assert script.run(**environment).returncode == 0
    assert (tmp_path / "data/it's.bin").read_bytes() == CONTENT
    source.contents.clear()
    (tmp_path / "data/it's.bin").unlink()
    failed = script.run(**environment)
    assert failed.returncode == 1
    assert "the server answers 404" in failed.stderr


@pytest.mark.parametrize("chart", DATA_CHARTS)
def test_the_one_claim_is_mounted(chart: str, render: Render) -> None:
    pod = of_kind(render(chart, {"pvc": {"name": "mine", "mount_path": "/m"}}), "Job")["spec"]["template"]["spec"]
    claims = [one["persistentVolumeClaim"] for one in pod["volumes"] if "persistentVolumeClaim" in one]
    assert claims == [{"claimName": "mine"}]
    assert {"name": "pv-1", "mountPath": "/m"} in pod["containers"][0]["volumeMounts"]
