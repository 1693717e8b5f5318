"""Model files that are damaged or made to do harm, from a good one."""

import hashlib
import io
import json
import zipfile

import numpy as np

from svmstat.storage.archive import MODEL, read_archive, write_archive


class Opened:
    """A model file taken apart, to be written again with other content and digests that agree."""

    def __init__(self, path):
        self.members = read_archive(path)
        self.model = json.loads(self.members.pop(MODEL))

    def find(self, *keys):
        """What the JSON has there."""
        found = self.model
        for key in keys:
            found = found[key]
        return found

    def put(self, value, *keys):
        """Other content of the JSON."""
        self.find(*keys[:-1])[keys[-1]] = value
        return self

    def numbers(self, *keys):
        """The array that the JSON names there."""
        said = self.find(*keys)
        return np.frombuffer(self.members[said["array"]], said["dtype"]).reshape(said["shape"]).copy()

    def put_numbers(self, values, *keys):
        """Another array, with its own digest."""
        said, content = self.find(*keys), np.ascontiguousarray(values).tobytes()
        self.members[said["array"]] = content
        said |= {"dtype": values.dtype.str, "shape": list(values.shape), "sha256": hashlib.sha256(content).hexdigest()}
        return self

    def write(self, path, text=None):
        """The file, with ``text`` in the place of its JSON if it is given."""
        text = json.dumps(self.model).encode() if text is None else text
        write_archive(path, {MODEL: text, **self.members})


def leaves(model, at=()):
    """The places of all values in a JSON that are no objects and no lists."""
    if isinstance(model, dict | list):
        for key, value in model.items() if isinstance(model, dict) else enumerate(model):
            yield from leaves(value, (*at, key))
    else:
        yield at


def zipped(members, change=lambda info: None, compression=zipfile.ZIP_STORED, sealed=True):
    """A zip of pairs of name and content, with the digest at its end if it is sealed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = compression
            change(info)
            archive.writestr(info, content)
        archive.comment = b"svmstat model; sha-256 of all before this digest: " + b"0" * 64
    return seal(packed.getvalue()) if sealed else packed.getvalue()


def seal(content):
    """A file whose digest is that of its other bytes."""
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()
