"""The first calls of a process, each with the seconds it took and what numba compiled for it; as JSON on stdout."""

import json
import time

from numba.core import event

START = time.perf_counter(), time.process_time()
SHORT = {"C": 16.0, "gamma": 0.25}


class Compilations(event.Listener):
    """What numba compiles, each with the CPU seconds of its own, without those of what it calls.

    Attributes
    ----------
    done : [function, types of its arguments, seconds], in the order in which they end
    """

    def __init__(self):
        self.done, self._open = [], []

    def on_start(self, event):  # noqa: ARG002 - numba gives it
        self._open.append([time.process_time(), 0.0])

    def on_end(self, event):
        start, inner = self._open.pop()
        spent = time.process_time() - start
        if self._open:
            self._open[-1][1] += spent
        function = event.data["dispatcher"].py_func
        self.done.append([f"{function.__module__}.{function.__name__}", str(event.data["args"]), spent - inner])


def steps():
    """The steps of a first session, by name: what follows stands on what was done before."""
    import svmstat  # noqa: PLC0415 - its import is the first step

    yield "import"
    mackerel, liver = svmstat.datasets.load("mackerel"), svmstat.datasets.load("liver")
    eggs = "egg_count > 0 ~ lon + lat + b_depth + c_dist + temp_20m"
    fit = svmstat.svm(eggs, mackerel, **SHORT)
    yield "svm"
    str(fit.summary())
    yield "summary"
    fit.loo(n_jobs=1)
    yield "loo"
    fit.get_influence().summary_frame()
    yield "influence"
    fit.gof(B=19, rng=1, n_jobs=1)
    yield "gof"
    svmstat.tune(eggs, mackerel, C=[4, 16], gamma=[0.25], n_jobs=1)
    yield "tune, loo"
    svmstat.tune(eggs, mackerel, C=[4, 16], gamma=[0.25], criterion="kfold", rng=1, n_jobs=1)
    yield "tune, k-fold"
    svmstat.svm(eggs, mackerel, nu=(0.3, 0.3), gamma=0.25)
    yield "svm, two nu"
    svmstat.tune(eggs, mackerel, nu=[0.3, 0.6], gamma=[0.25], criterion=svmstat.minimax(), rng=1, n_jobs=1)
    yield "tune, minimax"
    svmstat.svm("disease ~ np.log(ast) + np.log(alt)", liver, C=4.0).summary()
    yield "four classes"


def main():
    """Take the steps and print what they cost."""
    listener, found, before = Compilations(), [], START
    event.register("numba:compile", listener)
    for name in steps():
        now = time.perf_counter(), time.process_time()
        found.append({
            "step": name, "wall": now[0] - before[0], "cpu": now[1] - before[1], "compiled": listener.done,
        })  # fmt: skip
        listener.done, before = [], (time.perf_counter(), time.process_time())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
