"""The file: a zip whose members are stored as they are, ``model.json`` and the arrays that it names.

Nothing in it is compressed, so that no member is larger than the file. Its last 64 bytes, at the end of the comment of
the zip, are the SHA-256 digest of all before them, in hexadecimal; ``model.json`` has that of each array. The digests
tell damage. They are no signature: who changes a file can compute them again.
"""

import hashlib
import io
import re
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

from svmstat._tools.files import write_whole_bytes
from svmstat.errors import ModelFileError

MODEL = "model.json"

MOST_BYTES = 2**32 - 2**20
"""A zip of more would need another form."""

MOST_MEMBERS = 20_000

MOST_TEXT = 2**26
"""Bytes of ``model.json``: what is long is in the arrays."""

_NAME = re.compile(r"model\.json|arrays/[0-9]{1,6}\.bin")
_COMMENT = b"svmstat model; sha-256 of all before this digest: "
_DIGEST = 64
_DATE = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, ValueError, EOFError, OSError,
    struct.error, LookupError, OverflowError,
)  # fmt: skip
"""What `zipfile` raises for bytes that are no zip, or one that it cannot read."""


def write_archive(path: str | Path, members: Mapping[str, bytes]) -> None:
    """Write the members, whole or not at all; the same members give the same bytes.

    Raises
    ------
    ModelFileError
        If the file cannot be written, or would be too large.
    """
    if sum(map(len, members.values())) > MOST_BYTES:
        raise ModelFileError(f"{str(path)!r} cannot be written: the model has more than {MOST_BYTES} bytes.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content)
        archive.comment = _COMMENT + b"0" * _DIGEST
    body = packed.getvalue()[:-_DIGEST]
    try:
        write_whole_bytes(path, body + hashlib.sha256(body).hexdigest().encode())
    except OSError as error:
        raise ModelFileError(f"{str(path)!r} cannot be written: {error.strerror}.") from error


def read_archive(path: str | Path) -> dict[str, bytes]:
    """The members of a file, after a look at all that it says of them.

    Raises
    ------
    ModelFileError
        If it is not such a file as `write_archive` writes; the message names the file, the member and what is wrong.
    """
    content = _content(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            _check_members(path, infos, len(content))
            members = {info.filename: _member(path, archive, info) for info in infos}
            comment = archive.comment
    except ModelFileError:
        raise
    except _UNREADABLE as error:
        raise refused(path, f"it is no zip, or damaged: {error}") from error
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if not comment.startswith(_COMMENT) or hashlib.sha256(body).hexdigest().encode() != digest:
        raise refused(path, "it has not the bytes that were written: its digest is another")
    return members


def refused(path: str | Path, why: str, member: str | None = None) -> ModelFileError:
    """The error for a file that is not read, ready to be raised."""
    where = f"{str(path)!r}" if member is None else f"{member!r} in {str(path)!r}"
    return ModelFileError(f"{where} is no model that can be loaded: {why.removesuffix('.')}.")


def _content(path: str | Path) -> bytes:
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"{str(path)!r} cannot be read: it is no regular file.")
        if status.st_size > MOST_BYTES:
            raise ModelFileError(f"{str(path)!r} cannot be read: it has more than {MOST_BYTES} bytes.")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _check_members(path: str | Path, infos: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse, before anything is read, what no model file has."""
    if len(infos) > MOST_MEMBERS:
        raise refused(path, f"it has {len(infos)} members, more than {MOST_MEMBERS}")
    sizes: dict[str, int] = {}
    for info in infos:
        if info.orig_filename in sizes:
            raise refused(path, "it is there twice", info.orig_filename)
        if (why := _unusual(info)) is not None:
            raise refused(path, why, info.orig_filename)
        sizes[info.orig_filename] = info.file_size
    declared = sum(sizes.values())
    if declared > size:
        raise refused(path, f"its members have {declared} bytes in a file of {size}")
    if MODEL not in sizes:
        raise refused(path, f"it has no member {MODEL!r}")
    if sizes[MODEL] > MOST_TEXT:
        raise refused(path, f"it has {sizes[MODEL]} bytes, more than {MOST_TEXT}", MODEL)


def _unusual(info: zipfile.ZipInfo) -> str | None:
    """What a member has that none of a model file has."""
    if not _NAME.fullmatch(info.orig_filename):
        return "a model has 'model.json' and arrays/0.bin, arrays/1.bin, …, and nothing else"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link, or no file"
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
        return f"it is compressed, {info.compress_size} bytes for {info.file_size}, and svmstat compresses nothing"
    return None


def _member(path: str | Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(info)
    except _UNREADABLE as error:
        raise refused(path, f"it is damaged: {error}", info.filename) from error
