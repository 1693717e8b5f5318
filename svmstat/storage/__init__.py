"""A fit as a file: a zip of one JSON text and raw arrays, without any code, read as what it is, somebody else's text.

`archive` is the zip and its digests, `arrays` the raw numbers and the JSON, `columns` what pandas makes of numbers, and
`values` everything else: labels, settings, kernels, solutions.
"""

from svmstat.storage.archive import read_archive, refused, write_archive
from svmstat.storage.arrays import FORMAT, Reading, Writing, own_version
from svmstat.storage.values import decoded, encoded

__all__ = [
    "FORMAT",
    "Reading",
    "Writing",
    "decoded",
    "encoded",
    "own_version",
    "read_archive",
    "refused",
    "write_archive",
]
