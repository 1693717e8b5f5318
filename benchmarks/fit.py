"""A plain fit against SVC.fit: gram and solution, numeric arrays in. Ours is exact (KKT ≤ 1e-8), SVC's tol is 1e-3."""

from sklearn.svm import SVC

from benchmarks.problems import MACKEREL, banana, interaction, mackerel, two_class_machine
from benchmarks.timing import alternate
from svmstat import datasets, svm
from svmstat.kernels import RBF

CASES = [
    ("mackerel", mackerel(), 0.25),
    ("banana 634", banana(634), 5.0),
    ("interaction 634 × 5", interaction(634, 5), 0.2),
    ("banana 2000", banana(2000), 5.0),
    ("interaction 2000 × 10", interaction(2000, 10), 0.1),
    ("banana 6000", banana(6000), 5.0),
    ("interaction 6000 × 10", interaction(6000, 10), 0.1),
]


def main():
    print("Fit: svmstat (KKT <= 1e-8) and scikit-learn SVC (tol=1e-3), rbf kernel, median milliseconds")
    print(f"{'data':24}{'C':>5}{'svmstat':>10}{'SVC':>10}{'SVC/svmstat':>13}   KKT violation, road")
    for name, (X, y), gamma in CASES:
        for C in (1.0, 16.0, 100.0):

            def ours(X=X, y=y, gamma=gamma, C=C):
                return two_class_machine(RBF(gamma), X, y, C)

            def theirs(X=X, y=y, gamma=gamma, C=C):
                return SVC(C=C, gamma=gamma).fit(X, y)

            mine, other = alternate([ours, theirs], repeats=7 if len(y) < 6000 else 3)
            solution = ours().pairs[0].solution
            print(
                f"{name:24}{C:5.0f}{1e3 * mine:10.1f}{1e3 * other:10.1f}{other / mine:13.2f}"
                f"   {solution.violation:.0e} {solution.road.name.lower()}"
            )

    data = datasets.load("mackerel")
    X, y = mackerel()
    whole, bare = alternate(
        [
            lambda: str(svm(MACKEREL, data, C=16, gamma=0.25).summary()),
            lambda: two_class_machine(RBF(0.25), X, y, 16.0),
        ],
        repeats=15,
    )
    print(f"\nsvm() with formula, calibration and printed summary, n = 634: {1e3 * whole:.1f} ms,")
    print(f"{1e3 * (whole - bare):.1f} ms more than the fit on arrays")
