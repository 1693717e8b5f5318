import numpy as np
import pandas as pd
import pytest

from svmstat.errors import DesignWarning
from svmstat.formula import build_design

N = 40


def data(texts):
    return pd.DataFrame({"y": np.arange(N) % 2, "v": list(texts)})


@pytest.mark.parametrize(
    ("write", "told"),
    [
        ("{:.2f}%", r"reads as numbers with '%', 40 different .* convert it, without the '%'\.$"),
        ("$ {:.2f}", r"reads as numbers with '\$', .* without the '\$'\.$"),
        ("{:.2f} mg/l", "reads as numbers with 'mg/l', .* without the 'mg/l'"),
        ("\N{MINUS SIGN}{:.2f}", "reads as numbers, 40 .* with '-' for '\N{MINUS SIGN}'"),
        ("2021-03-{:02.0f} 12:00", "reads as dates, 40 different ones in 40 rows, .*: make numbers of them"),
        ("{:.0f}/12/1999", "reads as dates"),
    ],
)
def test_numbers_in_other_clothes_and_dates_are_told(write, told):
    values = np.arange(1, N + 1) if "/" in write or ":02" in write else np.arange(N) / 7.0
    with pytest.warns(DesignWarning, match=told):
        build_design("y ~ v", data(map(write.format, values)))


def test_decimal_commas_beside_a_unit_are_told():
    with pytest.warns(DesignWarning, match="without the '%' and with points for decimal commas"):
        build_design("y ~ v", data(f"{k / 7:.2f}%".replace(".", ",") for k in range(N)))


def test_many_marks_of_missing_values_do_not_hide_numbers():
    marks = ["-", "?", ".", "n.d.", "<1", "lost"]
    told = r"34 different ones in 40 rows but for '-', '\.', '<1' and 3 others, which may stand for missing"
    with pytest.warns(DesignWarning, match=told):
        build_design("y ~ v", data(marks + [str(k / 7) for k in range(len(marks), N)]))


FEW = [f"{k % 15 / 7:.2f}" for k in range(N)]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (FEW, r"reads as numbers, 15 different ones in 40 rows, and .* as astype\(float\) does"),
        ([f"{text} mg" for text in FEW], "reads as numbers with 'mg', 15 different ones"),
        ([".", *FEW[1:]], r"15 .* but for '\.', which .* as pd.to_numeric\(errors='coerce'\) does"),
        (["?", *(str(k % 15) for k in range(1, N))], r"15 different ones in 40 rows but for '\?'"),
        (["Unknown", *(str(k % 15) for k in range(1, N))], "15 different ones in 40 rows but for 'Unknown'"),
    ],
)
def test_numbers_that_rows_share_are_told_if_they_were_measured_or_stand_beside_a_mark(texts, told):
    with pytest.warns(DesignWarning, match=told):
        build_design("y ~ v", data(texts))


def test_whole_numbers_that_rows_share_may_be_codes():
    build_design("y ~ v", data(str(k % 15) for k in range(N)))
    build_design("y ~ v", data(["outside", *(str(k % 15) for k in range(1, N))]))
    build_design("y ~ C(v)", data(FEW))
    build_design("y ~ v", data(f"{k % 15}.0" for k in range(N)))
    build_design("y ~ v", data(f"{k % 5}.5" for k in range(N)))


@pytest.mark.parametrize("write", ["A{}", "{}:30", "{}-1", "plot {}"])
def test_what_names_rows_is_not_told(write):
    build_design("y ~ v", data(map(write.format, range(N))))


def test_units_that_differ_are_no_numbers():
    build_design("y ~ v", data(f"{k / 7:.2f} {'kg' if k % 2 else 'mg'}" for k in range(N)))
