"""n = 50 000, 10 columns, rbf: time, certificate and peak memory of a fresh process."""

import resource
import time

from benchmarks.problems import interaction, two_class_machine
from svmstat.kernels import RBF


def main(n=50_000, p=10):
    X, y = interaction(n, p)
    start = time.perf_counter()
    machine = two_class_machine(RBF(1 / p), X, y, 1.0)
    solution = machine.pairs[0].solution
    print(f"n = {n}, p = {p}: {time.perf_counter() - start:.0f} s, {solution.status.name.lower()},", end=" ")
    print(f"KKT violation {solution.violation:.1e},", end=" ")
    print(f"{solution.free.sum()} free and {solution.bounded.sum()} bounded support vectors,", end=" ")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
