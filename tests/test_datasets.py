"""The bundled data are what their documentation says."""

import pytest

from svmstat import datasets
from svmstat.errors import ArgumentError


@pytest.mark.parametrize(("name", "shape"), [("mackerel", (634, 16)), ("liver", (218, 4)), ("forest", (2724, 55))])
def test_shapes(name, shape):
    data = datasets.load(name)
    assert data.shape == shape
    assert list(data.index) == list(range(shape[0]))
    assert not any(column != column.strip().lower() for column in data.columns)


def test_mackerel():
    data = datasets.load("mackerel")
    assert (data["egg_count"] > 0).sum() == 369
    assert data["salinity"].isna().sum() == 304
    assert data.drop(columns="salinity").notna().all(axis=None)
    # the first row: the row order is that of gamair::mack
    assert list(data.loc[0, ["b_depth", "lat", "lon", "vessel"]]) == [4342, 44.57, -4.65, "COSA"]


def test_liver():
    assert datasets.load("liver")["disease"].value_counts().to_dict() == {
        "PNC": 77,
        "AVH": 57,
        "PCH": 44,
        "ACH": 40,
    }


def test_forest():
    data = datasets.load("forest")
    assert data["cover_type"].value_counts().to_dict() == {1: 1375, 7: 1349}
    assert (data.dtypes == "int64").all()
    indicators = data.filter(regex="wilderness|soil")
    assert indicators.shape[1] == 44
    assert indicators.isin([0, 1]).all(axis=None)
    assert (indicators.nunique() == 1).sum() == 15


def test_each_call_returns_a_fresh_frame():
    first = datasets.load("liver")
    first.loc[0, "ast"] = -1.0
    assert datasets.load("liver").loc[0, "ast"] == 236.0


def test_every_name_loads_and_has_a_line():
    for name in datasets.names():
        assert str(len(datasets.load(name))) in datasets.describe(name)


@pytest.mark.parametrize("call", [datasets.load, datasets.describe])
def test_unknown_name(call):
    with pytest.raises(ArgumentError, match=r"name='mackrel'.*'liver'.*did you mean 'mackerel'"):
        call("mackrel")
    with pytest.raises(ArgumentError, match="name=3 is not allowed"):
        call(3)
