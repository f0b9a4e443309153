"""Files that cannot be written: what is said about them, and what stays as it was."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.disk import mounted

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError, StorageError
from ansible_collections.mlops.eks.plugins.module_utils._core.files import write_atomically
from ansible_collections.mlops.eks.plugins.module_utils._core.storage import Storage, probe, storage_error


def said(act: Callable[[], object]) -> str:
    with pytest.raises(StorageError) as caught:
        act()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_full_disk_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=64k") as disk:
        file = disk.path / "step.json"
        write_atomically(file, "former")
        disk.fill()
        words = said(lambda: write_atomically(file, "newer" * 2000))
        assert words == f"{file}: no space left on device (0.0 MiB free of 0 MiB). Free space there."
        assert file.read_text() == "former"
        assert sorted(path.name for path in disk.path.iterdir()) == [".ballast", "step.json"]
        disk.empty()
        write_atomically(file, "newer")
        assert file.read_text() == "newer"


def test_a_file_system_without_inodes_says_so(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1m,nr_inodes=3") as disk:
        (disk.path / "one").touch()
        (disk.path / "two").touch()
        words = said(lambda: probe(disk.path / "runs" / "r"))
        assert words == f"{disk.path}/runs/r: no space left on device (0 of 3 inodes free). Remove files there."


def test_a_read_only_file_system(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk") as disk:
        disk.resize("ro")
        words = said(lambda: probe(disk.path / "runs" / "r"))
        assert words == f"{disk.path}/runs/r: the file system is read-only. Mount it writable."


def test_a_file_where_a_directory_should_be(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()
    words = said(lambda: probe(tmp_path / "runs" / "r"))
    assert words == f"{tmp_path}/runs/r: a part of the path is not a directory. Remove what is in the way."


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    words = said(lambda: probe(tmp_path / ("x" * 300)))
    assert words.endswith(": the name is too long. Use a shorter path or shorter names.")


@pytest.mark.parametrize("number", [errno.EDQUOT, errno.EIO, errno.ESTALE, errno.EFBIG, errno.EACCES, errno.EXDEV])
def test_whatever_the_system_says_is_one_line_with_path_and_remedy(number: int, tmp_path: Path) -> None:
    error = storage_error(tmp_path / "f", OSError(number, os.strerror(number)))
    assert isinstance(error, EksError)
    assert str(error).startswith(f"{tmp_path}/f: ")
    assert str(error).count(". ") == 1


def test_a_probe_leaves_nothing_behind(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=64k") as disk:
        disk.fill(left=4096)
        said(lambda: probe(disk.path / "runs" / "r" / "east"))
        assert not (disk.path / "runs").exists()
    probe(tmp_path / "runs" / "r")
    assert list((tmp_path / "runs" / "r").iterdir()) == []


def full() -> None:
    raise storage_error(Path("/runs/r"), OSError(errno.EIO, "x"))


def test_what_is_wrong_is_said_at_once_again_after_a_while_and_when_it_is_over() -> None:
    storage, path = Storage(), Path("/runs/r")
    assert storage.status_line(0.0, "following goes on") == ""
    assert storage.try_write(path, full) is None
    told = "/runs/r: input/output error; following goes on. Repair or replace the disk."
    found = [storage.status_line(at, "following goes on", every=60.0) for at in (1.0, 2.0, 60.9, 61.0, 62.0)]
    assert found == [told, "", "", told, ""]
    assert storage.status_line(63.0, "the pods stay") == told.replace("following goes on", "the pods stay")
    storage.try_write(path, lambda: 1)
    assert [storage.status_line(64.0, ""), storage.status_line(65.0, "")] == ["the evidence can be written again", ""]


def test_what_must_be_written_is_tried_until_it_is_or_is_given_up() -> None:
    storage, path, failures = Storage(), Path("/runs/r"), iter([True, True, False])

    def write() -> str:
        if next(failures):
            full()
        return "written"

    assert storage.retry_write(path, write, lambda: True) == "written"
    assert storage.error is None
    with pytest.raises(StorageError):
        storage.retry_write(path, full, lambda: False)
    assert storage.error is not None
