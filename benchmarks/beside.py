"""How long calls take here and in another checkout, in turns: ``python -m benchmarks beside TREE [--rounds 15]``.

A worktree of an earlier commit (``git worktree add ../before COMMIT``) is what a change is compared with. Each of the
two works in a process of its own, with one thread; what is printed are the least times of all rounds.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.beside_calls import CALLS

CALLER = Path(__file__).with_name("beside_calls.py")


class Checkout:
    """A process that does calls with the package of a checkout."""

    def __init__(self, tree):
        one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        environment = {**os.environ, **one_thread, "PYTHONPATH": str(tree)}
        command = [sys.executable, str(CALLER)]
        self._process = subprocess.Popen(
            command, env=environment, cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, name):
        print(name, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks beside", description=__doc__.partition(":")[0])
    parser.add_argument("tree", type=Path, help="the other checkout")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="calls whose name contains this")
    given = parser.parse_args(arguments)
    trees = [given.tree.resolve(), Path(__file__).resolve().parents[1]]
    there, here = map(commit, trees)
    print(f"Least of {given.rounds} times in milliseconds, in turns: {there} and {here}")
    print(f"{'':34}{there:>12}{here:>12}{'ratio':>8}")
    checkouts = [Checkout(tree) for tree in trees]
    ratios = []
    for name in filter(lambda name: given.only in name, CALLS):
        least = [float("inf")] * 2
        for number in range(given.rounds + 2):  # the first two may wait for the compiler
            for k in (0, 1) if number % 2 else (1, 0):
                least[k] = min(least[k], checkouts[k].seconds(name))
        ratios.append(least[1] / least[0])
        print(f"{name:34}{1e3 * least[0]:12.2f}{1e3 * least[1]:12.2f}{ratios[-1]:8.2f}", flush=True)
    for each in checkouts:
        each.close()
    print(f"{len(ratios)} calls, the largest ratio {max(ratios):.2f}, {sum(ratio > 1.1 for ratio in ratios)} above 1.1")


def commit(tree):
    return subprocess.run(
        ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
