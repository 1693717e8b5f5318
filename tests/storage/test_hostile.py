"""Damaged and hostile files: each is refused by name, nothing is executed, nothing is written."""

import json
import os
import stat
import warnings
import zipfile

import numpy as np
import pytest
from hostile import Opened, leaves, seal, zipped
from levels import sample

from svmstat import load, svm
from svmstat.errors import CertificateWarning, ModelFileError
from svmstat.storage.archive import MODEL, read_archive

DATA = sample(3, n=30).astype({"side": "category"})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("good") / "fit.svmstat"
    svm("y ~ x + np.log(z + 90) + side", DATA, C=2.5, subset="z > 0", weights="w").save(found)
    return found


@pytest.fixture(scope="module")
def good(path):
    return path.read_bytes()


@pytest.fixture
def refuse(tmp_path, monkeypatch):
    """Write a file, and see that it is refused, that the message names it, and that nothing else has happened."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    found = tmp_path / "bad.svmstat"

    def check(content=None, match="no model|cannot be read"):
        if content is not None:
            found.write_bytes(content)
        with pytest.raises(ModelFileError, match=match) as caught:
            load(found)
        assert type(caught.value) is ModelFileError
        assert "bad.svmstat" in str(caught.value)
        assert sorted(each.name for each in tmp_path.rglob("*")) == ["bad.svmstat", "folder"]

    check.path = found
    return check


@pytest.mark.parametrize("part", range(150))
def test_a_bit_that_has_changed(part, good, refuse):
    rng = np.random.default_rng(part)
    place = int((part + rng.random()) / 150 * len(good))
    changed = bytearray(good)
    changed[place] ^= 1 << int(rng.integers(8))
    refuse(bytes(changed))


@pytest.mark.parametrize("part", range(60))
def test_a_file_that_was_cut(part, good, refuse):
    refuse(good[: int(part / 60 * len(good))])


@pytest.mark.parametrize("part", range(20))
def test_a_file_of_which_a_piece_is_gone_or_moved(part, good, refuse):
    start, length = np.random.default_rng(part).integers(1, len(good) // 2, 2)
    refuse(good[:start] + good[start + length :])
    refuse(good[start:] + good[:start])
    refuse(good[:start] + bytes(length) + good[start + length :])
    refuse(good[:start] + good)
    refuse(good + good[-start:])


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x80\x04N.", b"\x89PNG\r\n", b"{}", bytes(1000), b"y,x\n1,2\n"]
)
def test_what_is_no_model_at_all(content, refuse):
    refuse(content)


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("none", ".", "pipe", "a\0b"):
        with pytest.raises(ModelFileError, match="cannot be read"):
            load(tmp_path / name)


# Zips that svmstat does not write

HELLO = [(MODEL, b'{"format":1}')]


def linked(info):
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (zipped([]), "no member 'model.json'"),
        (zipped([("arrays/0.bin", b"")]), "no member 'model.json'"),
        (zipped([*HELLO, ("/etc/passwd", b"x")]), "'/etc/passwd' in .* nothing else"),
        (zipped([*HELLO, ("../../home", b"x")]), r"'\.\./\.\./home' in .* nothing else"),
        (zipped([*HELLO, ("arrays/../../x.bin", b"x")]), "nothing else"),
        (zipped([*HELLO, ("arrays\\0.bin", b"x")]), "nothing else"),
        (zipped([*HELLO, ("C:/x", b"x")]), "nothing else"),
        (zipped([*HELLO, ("arrays/", b"")]), "nothing else"),
        (zipped([*HELLO, ("arrays/0.bin\n", b"")]), "nothing else"),
        (zipped([*HELLO, ("arrays/0.npy", b"")]), "nothing else"),
        (zipped([*HELLO, ("model.py", b"import os")]), "nothing else"),
        (zipped(HELLO, linked), "'model.json' in .* link"),
        (zipped(HELLO, compression=zipfile.ZIP_DEFLATED), "compressed"),
        (zipped([(MODEL, b" " * 10**7)], compression=zipfile.ZIP_DEFLATED), "compressed, .* for 10000000"),
        (zipped([(MODEL, b" " * 10**6)], compression=zipfile.ZIP_BZIP2), "compressed"),
        (zipped(HELLO, sealed=False), "digest"),
        (zipped([*HELLO, ("arrays/0.bin", b"1234")]), "'data'|'call'"),
    ],
)
def test_zips_of_another_kind(content, match, refuse):
    refuse(content, match)


def test_a_member_twice(refuse):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = zipped([*HELLO, *HELLO])
    refuse(content, "'model.json' in .* twice")


def patched(content, signature, offset, value):
    """The zip with other bytes in each header of the kind."""
    changed, at = bytearray(content), content.find(signature)
    while at >= 0:
        changed[at + offset : at + offset + len(value)] = value
        at = content.find(signature, at + 4)
    return bytes(changed)


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def test_encrypted(refuse):
    content = patched(patched(zipped(HELLO), LOCAL, 6, b"\x01\x00"), CENTRAL, 8, b"\x01\x00")
    refuse(seal(content), "'model.json' in .* encrypted")


@pytest.mark.parametrize("size", [2**31, 2**32 - 2, 10**6])
def test_sizes_that_the_file_does_not_have(size, refuse):
    declared = size.to_bytes(4, "little") * 2
    refuse(seal(patched(zipped(HELLO), CENTRAL, 20, declared)), "have .* bytes in a file of")


def test_members_that_share_their_bytes(refuse):
    """Many entries of the directory for one member, which would be read many times."""
    content = zipped([*HELLO, *((f"arrays/{k}.bin", bytes(3000)) for k in range(3))])
    refuse(seal(patched(content, CENTRAL, 42, bytes(4))))


def test_too_many_members(refuse):
    refuse(zipped([*HELLO, *((f"arrays/{k}.bin", b"") for k in range(20_001))]), "20002 members")


# A JSON that svmstat does not write


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[1]", "'format' is missing"),
        (b"[" * 10**5 + b"]" * 10**5, "nested too deeply"),
        (b'{"format":1,"a":' + b'{"a":' * 10**5 + b"1" + b"}" * 10**5 + b"}", "nested too deeply"),
        (b'{"format":NaN}', "NaN is no number"),
        (b'{"format":1,"x":-Infinity}', "-Infinity is no number"),
        (b'{"format":1,"x":1e999}', "none that a double holds"),
        (b'{"format":1,"x":' + b"9" * 5000 + b"}", "whole number of 5000 digits"),
        (b'{"format":1,"format":1}', "two entries of one name"),
        (b'{"format":"1"}', "format '1' is no number"),
        (b'{"format":true}', "format True is no number"),
        (b'{"format":0}', "format 0"),
        (b'{"format":2,"svmstat":"9.9.0"}', r"written by svmstat 9\.9\.0, format 2; this version reads up to 1"),
        (b'{"format":1000000000000000000,"svmstat":{}}', "this version reads up to 1"),
        (b'{"format":1}', "is missing"),
    ],
)
def test_texts_of_another_kind(text, match, refuse):
    refuse(zipped([(MODEL, text)]), match)


# Content of another kind, in a file whose digests agree

CODE = [
    "__import__('os').system('touch here')",
    "x.__class__",
    "x.__class__.__base__.__subclasses__()",
    "eval('1')",
    "exec('import os')",
    "open('here', 'w')",
    "np.fromfile('here')",
    "np.load('here')",
    "np.f2py.os.system('touch here')",
    "pd.read_pickle('here')",
    "pd.eval('x')",
    "x.to_csv('here')",
    "x.to_pickle('here')",
    "(lambda: x)()",
    "[x for x in ().__class__.__mro__]",
    "f'{x.__class__}'",
    "C(x, __import__('os'))",
    "bs(x, df=10**9)",
    "x ** 9 ** 9 ** 9",
    "C(x):C(z):C(x + 1):C(z + 1):C(x + 2)",
    "unknown(x)",
    "unknown",
    "(" * 5000 + "x" + ")" * 5000,
    "x +",
    "",
]


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("where", ["formula", "response", "subset"])
def test_code(code, where, path, refuse):
    opened = Opened(path)
    match where:
        case "formula":
            opened.put(f"y ~ x + {code}", "formula")
        case "response":
            opened.put(f"{code} ~ x", "formula")
        case "subset":
            opened.put(f"({code}) > 0", "call", "subset")
    opened.write(refuse.path)
    refuse()


SOLUTION = ("solutions", 0, "fields")


@pytest.mark.parametrize(
    ("keys", "value", "match"),
    [
        (("kernel", "record"), "Cauchy", "no kind that is known"),
        (("kernel", "record"), "Precomputed", "entries of one"),
        (("kernel", "record"), "__class__", "no kind that is known"),
        (("kernel", "record"), "Solution", "entries of one"),
        (("kernel", "fields", "gamma"), "scale", "not learnt"),
        (("kernel", "fields", "gamma"), -1.0, "gamma"),
        (("kernel", "fields", "gamma"), 0.9, "the solution for 'a' and 'b' is none of the stored data"),
        (("kernel",), "rbf", "kernel"),
        ((*SOLUTION, "status"), 1, "a solution is none, or has no status"),
        ((*SOLUTION, "status"), [], "a solution is none, or has no status"),
        (("call", "kernel"), "sigmoid", "kernel"),
        (("call", "loss"), "logistic", "loss"),
        (("call", "loss"), "p0", "none of the stored data"),
        (("call", "C"), 1e300, "C="),
        (("call", "C"), 3.5, "none of the stored data"),
        (("call", "data"), 1, "call"),
        (("call", "weights"), "nobody", "weights"),
        (("call", "weights"), None, "none of the stored data"),
        (("call", "subset"), "z > 40", "keeps none of the 30 rows"),
        (("call", "subset"), "z > 25", "none of the stored data"),
        (("call", "event"), "a", "event"),
        (("of_others", "weights"), "z", "none of them"),
        (("call", "calibration"), "none", "calibration"),
        (("call", "na_action"), {"tuple": []}, "na_action"),
        (("formula",), 5, "formula"),
        (("formula",), "y ~ x", "is missing|none of the stored data"),
        (("solutions",), [], "nothing in 'model.json' names it"),
        ((*SOLUTION, "status", "number"), 99, "Status"),
        ((*SOLUTION, "resolution"), 10.0, "resolution"),
        ((*SOLUTION, "rounding"), 1e300, "rounding"),
        ((*SOLUTION, "violation"), {"float": "nan"}, "no number"),
        ((*SOLUTION, "flat"), True, "precision"),
        ((*SOLUTION, "intercept_interval", "tuple", 0), 0.25, "intercept"),
        ((*SOLUTION, "intercept_interval"), {"tuple": []}, "interval"),
        ((*SOLUTION, "norm_squared"), 1e9, "norm_squared"),
        ((*SOLUTION, "nearest"), 5, "other sums"),
        ((*SOLUTION, "alpha", "dtype"), "|O", "type '|O'"),
        ((*SOLUTION, "alpha", "dtype"), "<f8,<f8", "type"),
        ((*SOLUTION, "alpha", "dtype"), "<V8", "type"),
        ((*SOLUTION, "alpha", "shape"), [10**18, 10**18], "needs .* bytes"),
        ((*SOLUTION, "alpha", "shape"), [-1], "shape"),
        ((*SOLUTION, "alpha", "shape"), [1, 1, 1, 1], "shape"),
        ((*SOLUTION, "alpha", "shape"), 3, "shape"),
        ((*SOLUTION, "alpha", "array"), "arrays/999.bin", "'arrays/999.bin' in .* not there"),
        ((*SOLUTION, "alpha", "array"), "../x", "not there"),
        ((*SOLUTION, "alpha", "sha256"), "0" * 64, "digest"),
        ((*SOLUTION, "alpha"), None, "nothing in 'model.json' names it"),
        (("data", "n"), 10**15, "one length"),
        (("data", "index"), {"range": [0, 10**15, 1], "names": [None]}, "one length"),
        (("data", "index"), {"range": [0, 30, 0], "names": [None]}, "Step must not be zero"),
        (("data", "names", 0), "y", "one name"),
        (("data", "names", 0), [1], "list"),
        (("data", "blocks", 0, "places"), [0], "row for each"),
        (("data", "columns", 0, "kind"), "pickle", "kind 'pickle'"),
        (("untuned",), ["os"], "tuning"),
        (("held_out",), None, "nothing in 'model.json' names it"),
        (("held_out", "tuple"), [], "nothing in 'model.json' names it"),
        (("held_out", "tuple", 1), {"tuple": []}, "nothing in 'model.json' names it"),
    ],
)  # fmt: skip
def test_content_of_another_kind(keys, value, match, path, refuse):
    Opened(path).put(value, *keys).write(refuse.path)
    refuse(match=match)


FORGERIES = {
    "negative": np.negative,
    "zero": np.zeros_like,
    "reversed": np.flip,
    "moved": lambda values: values + 1e-4,
    "no number": lambda values: values * np.nan,
    "shorter": lambda values: values[:-1],
    "single": lambda values: values.astype("f4"),
    "a matrix": lambda values: values[None],
    "huge": lambda values: values * 1e9,
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
@pytest.mark.parametrize("name", ["alpha", "field", "upper"])
def test_a_forged_solution(name, change, path, refuse):
    opened = Opened(path)
    opened.put_numbers(change(opened.numbers(*SOLUTION, name)), *SOLUTION, name).write(refuse.path)
    refuse(match="is none of the stored data")


def test_a_solution_of_another_version_is_refused_as_that(path, refuse):
    opened = Opened(path)
    opened.put("0.1.0", "svmstat").write(refuse.path)
    load(refuse.path)
    opened.put_numbers(opened.numbers(*SOLUTION, "alpha") * 1e9, *SOLUTION, "alpha").write(refuse.path)
    refuse(match=r"is none of the stored data: .*; svmstat 0\.1\.0 wrote it, .*: fit again with the data")


def test_forged_data(path, refuse):
    opened, keys = Opened(path), ("data", "blocks", 0, "values")
    values = opened.numbers(*keys)
    opened.put_numbers(values + np.random.default_rng(0).normal(size=values.shape), *keys).write(refuse.path)
    refuse(match="is none of the stored data|weights|not of the")


def test_every_value_of_the_json_replaced(path, tmp_path):
    """Refused, or a value that does no harm: then what is loaded predicts as before."""
    model, fit = json.loads(read_archive(path)[MODEL]), load(path)
    expected, harmless = fit.decision_values, set()
    for at in leaves({**model, "solutions": model["solutions"][:1]}):
        for value in (None, "x", -7, {}):
            Opened(path).put(value, *at).write(tmp_path / "bad")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", CertificateWarning)
                    again = load(tmp_path / "bad")
            except ModelFileError:
                continue
            harmless.add(str(at[0]))
            np.testing.assert_allclose(again.decision_values, expected, atol=1e-7)
    assert harmless <= {"svmstat", "optimism", "untuned", "call", "data", "solutions"}


def test_a_fit_that_was_not_certified_says_so_again(path, tmp_path):
    with pytest.warns(CertificateWarning):
        fit = svm("y ~ x + z", sample(2), C=1e14, gamma=1e-12)
    fit.save(tmp_path / "fit")
    with pytest.warns(CertificateWarning):
        assert not load(tmp_path / "fit").converged


@pytest.mark.parametrize("names", [["s(z)", "s(x)"], ["s(x)"], []])
def test_terms_under_other_names(names, tmp_path, refuse):
    """Functions of a fit must not be shown under the names of others."""
    path = tmp_path / "folder" / "terms.svmstat"
    svm("y ~ s(x) + s(z)", DATA).save(path)
    opened = Opened(path)
    path.unlink()
    opened.put({"tuple": names}, "kernel", "fields", "names").write(refuse.path)
    refuse()
