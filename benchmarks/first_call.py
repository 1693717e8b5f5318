"""Imports and the first call in a new process, numba cache warm."""

import subprocess
import sys
import time

from benchmarks.problems import MACKEREL

IMPORT = "import svmstat"
CALL = f"""
from svmstat import datasets, svm
str(svm({MACKEREL!r}, datasets.load("mackerel"), C=16, gamma=0.25).summary())
"""


def main():
    for what, code in (("import svmstat", IMPORT), ("import, first svm() and its summary", CALL)):
        times = []
        for _ in range(4):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        print(f"{what}: {min(times[1:]):.2f} s (the first process, perhaps without numba cache: {times[0]:.2f} s)")
