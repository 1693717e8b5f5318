"""Files that are written whole or not at all."""

import errno
import os
import secrets
import stat
from pathlib import Path


def write_whole(path: str | Path, text: str) -> None:
    """Write a text, as `write_whole_bytes`; letters that UTF-8 lacks, as of an undecodable argument, are escaped."""
    write_whole_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_whole_bytes(path: str | Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that a write that fails leaves the old one as it was.

    A file that is there keeps its mode, and a link stays a link; what is no regular file, such as a pipe, is written as
    it is.

    Parameters
    ----------
    path : str or Path
    content : bytes

    Raises
    ------
    OSError
        If it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    if target.exists() and not os.access(target, os.W_OK):  # a move would not ask
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    beside = target.with_name(f".svmstat-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
