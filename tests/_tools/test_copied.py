"""Attributes that are read as copies."""

import copy
import pickle
from collections import OrderedDict
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import pandas as pd
import pytest

from svmstat._tools.copied import read_as_copies


@read_as_copies("table", "params")
@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A result."""

    table: pd.DataFrame
    params: dict
    chosen: int = 0


@pytest.fixture
def result():
    return Result(pd.DataFrame({"C": [2.0, 1.0]}), {"C": 2.0, "theta": OrderedDict(x=1.0)})


def test_what_is_read_may_be_changed(result):
    table = result.table
    table["C"] /= 7
    table.loc[:, "C"] = 0.0
    result.params["C"] = 9.0
    result.params["theta"]["x"] = 9.0
    assert result.table["C"].tolist() == [2.0, 1.0]
    assert result.params == {"C": 2.0, "theta": {"x": 1.0}}
    assert type(result.params["theta"]) is OrderedDict


def test_it_is_a_field_as_others(result):
    assert [field.name for field in fields(Result)] == ["table", "params", "chosen"]
    other = replace(result, table=result.table.assign(z=1), chosen=1)
    assert list(other.table) == ["C", "z"] and list(result.table) == ["C"] and other.params == result.params
    for same in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert same.table.equals(result.table) and same.params == result.params
    assert "C" in repr(result)
    with pytest.raises(TypeError):
        Result(result.table)
    with pytest.raises(FrozenInstanceError):
        result.table = result.table
