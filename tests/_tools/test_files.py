"""Files: whole or as they were."""

import os
import stat

import pytest

from svmstat._tools.files import write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and limits are those of POSIX")


def test_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "usual").write_text("", encoding="utf-8")
    write_whole(tmp_path / "new", "π\n")
    assert (tmp_path / "new").read_bytes() == "π\n".encode()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


@posix
def test_a_file_that_is_there_keeps_its_mode_and_a_link_stays_one(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to("target")
    write_whole(str(link), "new")
    assert link.is_symlink()
    assert (target.read_text(encoding="utf-8"), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o640)


@posix
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    target = tmp_path / "report.html"
    target.write_text("old", encoding="utf-8")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(target, "x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert target.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_an_interrupt_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "new", "text")
    assert os.listdir(tmp_path) == []


@posix
def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_file_that_must_not_be_written(tmp_path, monkeypatch):
    (tmp_path / "protected").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # a superuser may write everything
    with pytest.raises(PermissionError, match="Permission denied"):
        write_whole(tmp_path / "protected", "new")
    assert (tmp_path / "protected").read_text(encoding="utf-8") == "old"


def test_a_letter_that_utf_8_lacks(tmp_path):
    write_whole(tmp_path / "new", "\udcff")
    assert (tmp_path / "new").read_text(encoding="utf-8") == r"\udcff"
