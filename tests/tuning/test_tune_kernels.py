"""``tune()`` over kernels that are passed as objects: the parameters that they leave open, and lists of kernels."""

import re
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from levels import quiet

from svmstat import minimax, svm, tune
from svmstat.errors import ArgumentError
from svmstat.kernels import RBF, CustomKernel, Laplace, Linear, Polynomial, Precomputed, Spline, gram

matplotlib.use("Agg")

TOL_SAME = 1e-6  # two certified fits of the same problem, relative


def sample(n=80, seed=3, levels=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    score = X[:, 0] * X[:, 1] + 0.6 * rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, levels) / levels))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


DATA, THREE = sample(), sample(120, 5, levels=3)


@pytest.mark.parametrize(
    ("kernel", "name", "values"),
    [
        (RBF(), "rbf", {"gamma": [0.1, 1.0]}),
        (RBF(), "rbf", {}),
        (Laplace(), "laplace", {"gamma": ["median", 0.3]}),
        (Laplace(), "laplace", {}),
        (Polynomial(), "poly", {"degree": [1, 2], "gamma": [0.2, "scale"], "coef0": 1}),
        (Polynomial(), "poly", {}),
        (Linear(), "linear", {}),
        (Spline(), "spline", {}),
    ],
)
def test_an_object_has_the_grid_of_its_name(kernel, name, values):
    one = quiet("y ~ a + b", DATA, kernel=kernel, C=[0.5, 2], **values)
    other = quiet("y ~ a + b", DATA, kernel=name, C=[0.5, 2], **values)
    pd.testing.assert_frame_equal(one.table, other.table, check_exact=True)
    np.testing.assert_array_equal(one.best.decision_values, other.best.decision_values)
    assert one.searched == other.searched == other.best_params
    assert set(one.best_params) == {"C", "kernel"} and one.best_params["kernel"] == one.best.kernel
    same = svm("y ~ a + b", DATA, **one.best_params)
    np.testing.assert_array_equal(same.decision_values, one.best.decision_values)
    assert str(one.summary()) == str(other.summary())


def test_a_parameter_that_was_set_is_held():
    found = quiet("y ~ a + b", DATA, kernel=Polynomial(degree=2, coef0=1.0), C=1, gamma=[0.2, 0.4])
    named = quiet("y ~ a + b", DATA, kernel="poly", degree=2, coef0=1.0, C=1, gamma=[0.2, 0.4])
    pd.testing.assert_frame_equal(found.table, named.table, check_exact=True)
    held = quiet("y ~ a + b", DATA, kernel=RBF(gamma="median"), C=[1, 2])
    assert held.table["gamma"].unique().tolist() == [svm("y ~ a + b", DATA, gamma="median").kernel.gamma]


def test_the_default_grid_of_the_laplace_kernel():
    found = quiet("y ~ a + b", DATA, kernel="laplace", criterion="kfold", rng=1, C=1)
    scale = svm("y ~ a + b", DATA, kernel="laplace").kernel.gamma
    np.testing.assert_allclose(found.table["gamma"], scale * 2.0 ** np.arange(-4, 4))


KERNELS = ["linear", RBF(gamma=0.1), Linear() + 0.5 * RBF(gamma="median"), RBF().on("a") + Laplace().on("b")]
LABELS = ["linear", "RBF(gamma=0.1)", "Linear() + 0.5 * RBF(gamma='median')",
          "RBF(gamma='scale').on('a') + Laplace(gamma='scale').on('b')"]  # fmt: skip


@pytest.mark.parametrize("criterion", ["loo", "kfold"])
@pytest.mark.parametrize("data", [DATA, THREE], ids=["two", "three"])
def test_kernels_of_a_list_are_compared_as_they_are(data, criterion):
    found = quiet("y ~ a + b", data, kernel=KERNELS, C=[0.5, 2], criterion=criterion, rng=3)
    assert found.table["kernel"].tolist() == 2 * LABELS
    assert found.table["C"].tolist() == 4 * [0.5] + 4 * [2.0]
    for k, kernel in enumerate(KERNELS):
        alone = quiet("y ~ a + b", data, kernel=[kernel], C=[0.5, 2], criterion=criterion, rng=3)
        expected = found.table.iloc[[k, k + 4]].reset_index(drop=True)
        alone, expected = (each.drop(columns=["delta_se", "within_se"]) for each in (alone.table, expected))
        pd.testing.assert_frame_equal(alone, expected, check_exact=True)  # but for the best of them, another
    assert found.best_row["score"] == found.table["score"].min()
    best = found.best_params["kernel"]
    assert any(best is each for each in KERNELS) and found.searched["kernel"] == LABELS[KERNELS.index(best)]
    same = svm("y ~ a + b", data, **found.best_params)
    np.testing.assert_array_equal(same.decision_values, found.best.decision_values)
    assert " ".join(found.searched["kernel"].split()) in " ".join(str(found.summary()).split())


def test_the_score_of_a_kernel_in_a_list_is_the_leave_one_out_of_the_fit():
    found = quiet("y ~ a + b", DATA, kernel=KERNELS, C=2, score="deviance")
    for k, kernel in enumerate(KERNELS):
        loo = svm("y ~ a + b", DATA, kernel=kernel, C=2).loo()
        row = found.table.iloc[k]
        got = (row["score"], row["score_se"], row["error"])
        np.testing.assert_allclose(got, (loo.score, loo.score_se, loo.error_rate), rtol=TOL_SAME)


def gauss(X, Z):
    return np.exp(-0.5 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def test_equal_kernels_are_one_and_functions_of_one_name_are_told_apart():
    def linear(X, Z):
        return X @ Z.T

    kernels = [
        gauss,
        RBF(0.5),
        CustomKernel(gauss),
        RBF(gamma=np.float64(0.5)),
        lambda X, Z: X @ Z.T,
        lambda X, Z: X @ Z.T + 1,
    ]
    found = quiet("y ~ a + b", DATA, kernel=[*kernels, linear], C=1)
    assert found.table["kernel"].tolist() == ["gauss", "RBF(gamma=0.5)", "<lambda> 1", "<lambda> 2", "linear"]
    score = found.table["score"].to_numpy()
    np.testing.assert_allclose([score[0], score[2], score[3]], [score[1], score[4], score[4]], rtol=TOL_SAME)


def test_a_function_in_a_list_makes_the_best_fit_again():
    found = quiet("y ~ a + b", DATA, kernel=[gauss], C=[1, 2])
    assert found.best_params["kernel"] is gauss


def test_a_gram_matrix_alone():
    K = pd.DataFrame(gram(RBF(0.5), DATA[["a", "b"]].to_numpy())).assign(y=DATA["y"])
    tables = [quiet("y ~ .", K, kernel=kernel, C=[1, 2]).table for kernel in ("precomputed", Precomputed())]
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    listed = quiet("y ~ .", K, kernel=["precomputed"], C=[1, 2]).table
    pd.testing.assert_frame_equal(listed.drop(columns="kernel"), tables[0], check_exact=True)


def test_no_kernel_is_at_the_edge_of_a_list():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tune("y ~ a + b", DATA, kernel=["linear", RBF(1.0)], C=1)
    assert not caught


def test_the_first_of_equal_kernels_is_chosen():
    twice = [RBF(0.5).on("a", "b"), RBF(0.5)]
    found = quiet("y ~ a + b", DATA, kernel=twice, C=1)
    assert found.chosen == 0 and found.best_params["kernel"] is twice[0]


def test_plots_of_a_list():
    found = quiet("y ~ a + b", DATA, kernel=KERNELS[:3], C=[0.5, 1, 2], criterion="kfold", rng=1)
    ax = found.plot()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == [f"kernel = {label}" for label in LABELS[:3]]
    assert ax.get_xlabel() == "log2 C"
    np.testing.assert_allclose(ax.lines[1].get_ydata(), found.table["score"].iloc[1::3])
    matplotlib.pyplot.close(ax.figure)
    single = quiet("y ~ a + b", DATA, kernel=KERNELS[:2], C=1, criterion="kfold", rng=1).plot()
    assert [text.get_text().split()[0] for text in single.get_legend().get_texts()[:2]] == ["kernel", "kernel"]
    matplotlib.pyplot.close(single.figure)
    along = quiet("y ~ a + b", DATA, kernel=KERNELS[:2], C=[1, 2], further=["gacv"])
    ax = along.plot_criteria()
    assert f"kernel = {along.searched['kernel']}" in ax.get_title("left")
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.parametrize("search", ["grid", "coordinate", "coordinate_2d", "balanced", "bias"])
def test_minimax_over_kernels(search):
    options = {"criterion": minimax(), "nu": [0.3, 0.5, 0.7], "rng": 4, "search": search}
    found = quiet("y ~ a + b", DATA, kernel=[RBF(0.1), RBF(1.0)], **options)
    plain = quiet("y ~ a + b", DATA, gamma=[0.1, 1.0], **options)
    labels = {0.1: "RBF(gamma=0.1)", 1.0: "RBF(gamma=1.0)"}
    assert found.table["kernel"].tolist() == plain.table["gamma"].map(labels).tolist()
    pd.testing.assert_frame_equal(
        found.table.drop(columns="kernel"), plain.table.drop(columns="gamma"), check_exact=True
    )
    assert found.best_params == {"nu": plain.best_params["nu"], "kernel": plain.best.kernel}
    assert labels[plain.best_params["gamma"]] in str(found.summary())
    assert labels[plain.best_params["gamma"]] in found.plot().get_title("left")
    matplotlib.pyplot.close("all")
    held = quiet("y ~ a + b", DATA, kernel=RBF(), gamma=[0.1, 1.0], **options)
    pd.testing.assert_frame_equal(held.table, plain.table, check_exact=True)


BAD = [
    ({"kernel": []}, "kernel=[] is not allowed: it must be one kernel or several, not an empty list"),
    ({"kernel": ["rbf", "rfb"]}, "kernel='rfb' is not allowed: it must be one of 'linear', 'rbf'"),
    ({"kernel": [RBF, Linear()]}, "kernel=RBF is a class of kernels"),
    ({"kernel": ["rbf", Linear()], "gamma": 1}, "gamma=1 is not allowed: it must be left out beside a list of kernels"),
    (
        {"kernel": ["rbf", Precomputed()]},
        "kernel[1]=Precomputed() is not allowed: it must be alone: its data are a gram",
    ),
    (
        {"kernel": RBF(gamma=0.3), "gamma": [0.1, 1]},
        "gamma=[0.1, 1] and kernel=RBF(gamma=0.3) are not allowed together: the kernel has a gamma of its own",
    ),
    ({"kernel": Linear(), "gamma": 1}, "gamma=1 is not allowed: it must be left out: kernel=Linear() has no gamma"),
    ({"kernel": Linear() + RBF(), "gamma": 1}, "kernel=Linear() + RBF(gamma='scale') has no gamma"),
    ({"kernel": 2 * RBF(), "gamma": 1}, "kernel=2.0 * RBF(gamma='scale') has no gamma"),
    (
        {"kernel": Laplace(), "gamma": [0.1, "wide"]},
        "gamma[1]='wide' is not allowed: it must be 'scale', 'median' or a",
    ),
    ({"kernel": RBF().on("d")}, "columns='d' is not allowed: it must be one of 'a', 'b'"),
    (
        {"kernel": [RBF(0.1), RBF(1.0)], "criterion": minimax(), "smooth": "3d"},
        "smooth='3d' is not allowed: it must be '2d' for a kernel with several parameters, which have no one order",
    ),
]


@pytest.mark.usefixtures("nothing_is_solved")
@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[str(case[0])[:60] for case in BAD])
def test_bad_input_is_one_error_before_anything_is_solved(arguments, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        tune("y ~ a + b", DATA, **arguments)
