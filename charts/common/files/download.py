"""Download the files of a data set to a shared file system, and unpack those that are archives.

Environment: DATA_DIR, the directory of the data; DOWNLOADS, a JSON list of {url, path, checksum, unpack}, with `path`
relative to DATA_DIR.

A file takes its name only when it is whole. What a run that was ended has received stays in DATA_DIR/.downloads, and
the next run goes on from there. That directory also records what is complete; a file that no record mentions is kept
when its checksum, or else its size, is that of the source. Only the standard library is used.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import shutil
import ssl
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ATTEMPTS = 5
TIMEOUT = 60
CHUNK = 1 << 20
# Answers that another attempt may change.
TEMPORARY = {408, 425, 429, 500, 502, 503, 504}

Item = dict[str, Any]


class DownloadError(Exception):
    """What went wrong, in one line."""


class TemporaryError(DownloadError):
    """What another attempt may change."""


def say(text: str) -> None:
    print(text, flush=True)


def size_of(count: int) -> str:
    """Return a number of bytes as people write it."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def open_url(url: str, method: str = "GET", headers: dict[str, str] | None = None) -> Any:
    """Send a request and return the answer."""
    request = urllib.request.Request(url, method=method, headers={"User-Agent": "mlops-eks", **(headers or {})})
    return urllib.request.urlopen(request, timeout=TIMEOUT)


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Raise what the network does as a DownloadError."""
    try:
        yield
    except urllib.error.HTTPError as error:
        kind = TemporaryError if error.code in TEMPORARY else DownloadError
        raise kind(f"{url}: the server answers {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise TemporaryError(f"{url}: {error.reason}") from error
    except (http.client.HTTPException, TimeoutError, ConnectionError, ssl.SSLError) as error:
        raise TemporaryError(f"{url}: the connection ended: {error or type(error).__name__}") from error


def checksum_of(path: Path, algorithm: str) -> str:
    digest = hashlib.new(algorithm)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


class Download:
    """One file on its way: where it comes from, where it goes, and what is known of it."""

    def __init__(self, item: Item, root: Path) -> None:
        self.item = item
        self.url = item["url"]
        self.root = root
        self.target = root / item["path"]
        if not self.target.resolve().is_relative_to(root.resolve()):
            raise DownloadError(f"downloads: the path {item['path']} leads out of {root}")
        name = re.sub(r"[^A-Za-z0-9.-]+", "_", f"{item['path']}_{self.url.rpartition('/')[2]}")[:150]
        state = root / ".downloads"
        state.mkdir(parents=True, exist_ok=True)
        self.part = state / f"{name}.part"
        self.validator = state / f"{name}.validator"
        self.unpacked = state / f"{name}.unpacked"
        self.record = state / f"{name}.json"

    def is_complete(self) -> bool:
        """Return whether the file, or what was unpacked, is there as recorded; a file without a record is looked at."""
        if not self.record.is_file():
            return not self.item.get("unpack") and self.target.is_file() and self._is_same()
        try:
            record = json.loads(self.record.read_text())
        except ValueError:
            return False
        sizes = {self.root / path: size for path, size in record["paths"].items()}
        return record["item"] == self.item and all(
            path.exists() and size in (None, path.stat().st_size) for path, size in sizes.items()
        )

    def _is_same(self) -> bool:
        """Return whether the file that is there is that of the source."""
        if self.item.get("checksum"):
            return self._matches(self.target)
        with explained(self.url), open_url(self.url, "HEAD") as answer:
            return str(self.target.stat().st_size) == answer.headers.get("Content-Length")

    def _matches(self, path: Path) -> bool:
        algorithm, _, expected = self.item["checksum"].partition(":")
        return checksum_of(path, algorithm) == expected

    def run(self) -> None:
        """Receive the file and put it in its place."""
        resumed = self.part.exists()
        self._receive()
        if self.item.get("checksum") and not self._matches(self.part):
            self.part.unlink()
            # A part that an earlier run left may not go with the rest; a file received in one piece does not improve.
            kind = TemporaryError if resumed else DownloadError
            raise kind(f"{self.url}: the content does not have the checksum {self.item['checksum']}")
        if self.item.get("unpack"):
            paths = self._unpack()
        else:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self.part.replace(self.target)
            paths = [self.target]
        self._write_record(paths)
        self.part.unlink(missing_ok=True)
        self.validator.unlink(missing_ok=True)

    def _receive(self) -> None:
        headers = {}
        size = self.part.stat().st_size if self.part.exists() else 0
        if size and self.validator.exists():
            headers = {"Range": f"bytes={size}-", "If-Range": self.validator.read_text()}
        with explained(self.url):
            try:
                answer = open_url(self.url, headers=headers)
            except urllib.error.HTTPError as error:
                if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not headers:
                    raise
                # There is nothing after what was received before: it is the whole file, or no part of it.
                if error.headers.get("Content-Range") == f"bytes */{size}":
                    return
                self.part.unlink()
                raise TemporaryError(f"{self.url}: changed since a part of it was received") from error
            with answer:
                self._write(answer)

    def _write(self, answer: Any) -> None:
        """Write the body of an answer to the part, after what is there if the server sends the rest."""
        rest = answer.status == 206
        received = self.part.stat().st_size if rest else 0
        length = answer.headers.get("Content-Length")
        total = received + int(length) if length else None
        validator = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        self.validator.unlink(missing_ok=True)
        # A weak ETag does not promise the same bytes.
        if validator and not validator.startswith("W/"):
            self.validator.write_text(validator)
        of = f" of {size_of(total)}" if total else ""
        say(f"{self.url}: {f'goes on after {size_of(received)}' if rest else 'begins'}{of}")
        told = time.monotonic()
        with self.part.open("ab" if rest else "wb") as stream:
            while chunk := answer.read(CHUNK):
                stream.write(chunk)
                received += len(chunk)
                if time.monotonic() - told > 30:
                    told = time.monotonic()
                    say(f"{self.url}: {size_of(received)}{of}")
        if total not in (None, received):
            raise TemporaryError(f"{self.url}: the connection ended after {size_of(received)}{of}")

    def _unpack(self) -> list[Path]:
        """Unpack the archive beside its place, and move each file or directory of its top into place."""
        shutil.rmtree(self.unpacked, ignore_errors=True)
        say(f"{self.url}: unpacks to {self.target}")
        try:
            with zipfile.ZipFile(self.part) as archive:
                archive.extractall(self.unpacked)
        except zipfile.BadZipFile as error:
            self.part.unlink()
            raise DownloadError(f"{self.url}: not a whole zip archive: {error}") from error
        self.target.mkdir(parents=True, exist_ok=True)
        paths = []
        for source in sorted(self.unpacked.iterdir()):
            path = self.target / source.name
            if path.is_dir():
                shutil.rmtree(path)
            source.replace(path)
            paths.append(path)
        self.unpacked.rmdir()
        return paths

    def _write_record(self, paths: list[Path]) -> None:
        sizes = {str(path.relative_to(self.root)): path.stat().st_size if path.is_file() else None for path in paths}
        text = json.dumps({"item": self.item, "paths": sizes}, indent=1)
        beside = self.record.with_suffix(".new")
        beside.write_text(text + "\n")
        beside.replace(self.record)


def fetch(item: Item, root: Path) -> None:
    """Bring one file, in several attempts; raises DownloadError."""
    download = Download(item, root)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            if not download.is_complete():
                download.run()
            say(f"{item['url']}: complete in {download.target}")
            return
        except TemporaryError as error:
            if attempt == ATTEMPTS:
                raise
            say(f"{error}; attempt {attempt} of {ATTEMPTS}, the next in {2**attempt} s")
            time.sleep(2**attempt)


def main() -> int:
    """Download everything. Returns the exit status."""
    items = json.loads(os.environ["DOWNLOADS"])
    root = Path(os.environ["DATA_DIR"])
    try:
        if not items:
            raise DownloadError("there is nothing to download: name files under downloads")
        for item in items:
            fetch(item, root)
    except DownloadError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or root}: {error.strerror or error}", file=sys.stderr)
        return 1
    say(f"complete: {len(items)} downloads in {root}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
