import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from types import SimpleNamespace

import pytest
from numba import float64

from svmstat._tools import second
from svmstat._tools.compiled import _Notice, compiled
from svmstat.solver.rough.smo import smo

SMO = SimpleNamespace(data={"dispatcher": smo})


@pytest.fixture
def willing(monkeypatch):
    """A Python of its own on two cores, whatever runs the tests."""
    monkeypatch.setenv("SVMSTAT_COMPILE_AHEAD", "1")
    monkeypatch.setattr(second.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.11")
    assert second.may_start()
    return monkeypatch


@pytest.mark.parametrize(
    "spoil",
    [
        lambda patch: patch.setenv("SVMSTAT_COMPILE_AHEAD", "0"),
        lambda patch: patch.setattr(second.os, "sched_getaffinity", lambda _: {0}),
        lambda patch: patch.setattr(multiprocessing, "parent_process", lambda: "a worker's"),
        lambda patch: patch.setattr(sys, "executable", "/opt/blender/blender"),
        lambda patch: patch.setattr(sys, "executable", None),
        lambda patch: patch.setattr(sys, "frozen", True, raising=False),
    ],
    ids=["switched off", "one core", "worker", "embedded", "no executable", "frozen"],
)
def test_where_none_is_started(willing, spoil):
    spoil(willing)
    assert not second.may_start()


def test_the_first_compilation_starts_one(willing):
    started = []
    willing.setattr(second, "start", lambda: started.append(True))
    notice = _Notice()
    for _ in range(2):
        notice.on_start(SMO)
    assert started == [True]


def test_without_a_folder_for_its_messages_none_is_started(willing):
    def no_folder():
        raise FileNotFoundError("No usable temporary directory found")

    willing.setattr(second, "start", no_folder)
    second.start_once()
    assert second.together.claims is None


def test_it_ends_with_the_process(monkeypatch):
    monkeypatch.setattr(second, "_MODULE", "svmstat")  # has no __main__: it ends at once, with an error that none sees
    process = second.start()
    claims = second.together.claims
    assert claims.folder.is_dir()
    for _ in range(2):
        second.end(process, str(claims.folder))
        assert process.returncode is not None and not claims.folder.exists() and second.together.claims is None


def test_what_lies_in_the_working_directory_is_not_run(tmp_path, monkeypatch):
    """A package or module there may have the name of one that the second process imports."""
    (tmp_path / "svmstat").mkdir()
    (tmp_path / "svmstat" / "__init__.py").write_text("open('has-run', 'w').close()", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.setattr(second, "_MODULE", "svmstat")
    process = second.start()
    process.wait()
    second.end(process, str(second.together.claims.folder))
    assert not (tmp_path / "has-run").exists()


def test_the_folder_goes_with_the_process_that_ends_first(tmp_path, monkeypatch):
    folder = tmp_path / "claims"
    folder.mkdir()
    claims = second.Claims(folder, lambda: True)
    assert claims.claim("smo")
    monkeypatch.setattr(second.together, "claims", claims)
    second.leave()
    assert not folder.exists()
    claims.done("smo")
    second.leave()
    monkeypatch.setattr(second.together, "claims", None)
    second.leave()


def test_one_of_two_claims_and_the_other_waits(tmp_path):
    one, other = (second.Claims(tmp_path, lambda: True) for _ in range(2))
    assert one.claim("smo") and not other.claim("smo") and other.claim("walk")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(other.wait, "smo")
        assert wait([waiting], timeout=0.1).not_done
        one.done("smo")
        waiting.result(timeout=10.0)


def test_nobody_waits_for_a_process_that_is_gone(tmp_path, monkeypatch):
    assert second.Claims(tmp_path, lambda: True).claim("smo")
    second.Claims(tmp_path, lambda: False).wait("smo")
    monkeypatch.setattr(second, "_PATIENCE", 0.1)
    second.Claims(tmp_path, lambda: True).wait("smo")
    gone = second.Claims(tmp_path / "gone", lambda: False)
    assert gone.claim("smo")
    gone.done("smo")


def test_the_second_process_finds_the_claims_of_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(second.together, "claims", None)
    monkeypatch.setenv("SVMSTAT_COMPILE_CLAIMS", str(tmp_path))
    second.join()
    assert second.together.claims.folder == tmp_path and second.together.claims.other_lives()


def twice(x):
    return 2.0 * x


def test_what_the_other_compiles_is_loaded_and_not_compiled(tmp_path, monkeypatch):
    """The other process is this one, while the first waits."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "numba"))
    first, other = compiled()(twice), compiled()(twice)
    claims, waited = second.Claims(tmp_path, lambda: True), []

    def compile_meanwhile(_, name):
        monkeypatch.setattr(second.together, "claims", None)
        other.compile((float64,))
        waited.append(name)

    assert claims.claim(first._cache._claim_on((float64,)))
    monkeypatch.setattr(second.Claims, "wait", compile_meanwhile)
    monkeypatch.setattr(second.together, "claims", claims)
    assert first(1.5) == 3.0
    assert waited == [first._cache._claim_on((float64,))]
    assert dict(first.stats.cache_hits) == {(float64,): 1} and not first.stats.cache_misses
