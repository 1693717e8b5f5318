"""The bundled data sets: what they hold and where they come from.

| name | rows | columns | contents |
|---|---|---|---|
| `mackerel` | 634 | 16 | stations of the 1992 mackerel egg survey |
| `liver` | 218 | 4 | patients with one of four liver diseases, three serum enzymes |
| `forest` | 2724 | 55 | forest patches of two cover types, 54 cartographic predictors |

Each set is described in full, with its source, in `load`.
"""

from importlib import resources

import pandas as pd

from svmstat._tools import checks

_SETS = {
    "mackerel": ("mackerel.csv", "634 stations of the 1992 mackerel egg survey; response egg_count > 0"),
    "liver": ("liver.csv", "218 patients, four liver diseases, three serum enzymes; response disease"),
    "forest": ("forest.csv.gz", "2724 forest patches, cover types 1 and 7, 54 predictors; response cover_type"),
}


def names() -> tuple[str, ...]:
    """The names that `load` takes.

    Examples
    --------
    >>> from svmstat import datasets
    >>> datasets.names()
    ('mackerel', 'liver', 'forest')
    """
    return tuple(_SETS)


def describe(name: str) -> str:
    """One line about a bundled data set.

    Examples
    --------
    >>> from svmstat import datasets
    >>> datasets.describe("liver")
    '218 patients, four liver diseases, three serum enzymes; response disease'
    """
    return _SETS[checks.one_of("name", name, _SETS)][1]


def load(name: str) -> pd.DataFrame:
    """A bundled data set as a new DataFrame with a 0, 1, 2, … index.

    Parameters
    ----------
    name : {"mackerel", "liver", "forest"}
        Which data set.

    Returns
    -------
    DataFrame
        Read anew at each call: changing it changes no other copy.

    Raises
    ------
    ArgumentError
        If there is no data set of this name.

    Notes
    -----
    **mackerel**: 634 rows, 16 columns. One row per station (one sample of eggs) of the 1992 survey that
    estimated the spawning stock of mackerel by the daily egg production method
    [Borchers, Buckland, Priede & Ahmadi 1997], in the row order of the copy that R users know as
    ``gamair::mack``, with ``.`` in the names changed to ``_``. The response used in the papers is
    ``egg_count > 0`` (369 of 634). The other columns are complete; ``salinity`` is missing in 304 rows.

    ``egg_count``
        number of stage I eggs in the sample
    ``egg_dens``
        stage I eggs per square metre of sea surface and day, computed from the count
    ``b_depth``
        sea bed depth at the station
    ``lat``, ``lon``
        latitude in degrees north, longitude in degrees east
    ``time``
        time of day in hours
    ``salinity``
        salinity of the water
    ``flow``
        reading of the flow meter on the net
    ``s_depth``
        depth from which the net was hauled up
    ``temp_surf``, ``temp_20m``
        water temperature at the surface and 20 m down
    ``net_area``
        area of the net, square metres
    ``country``, ``vessel``, ``vessel_haul``
        codes of the country, of its vessel, and of the haul within the vessel
    ``c_dist``
        distance to the 200 m depth contour, in degrees (of latitude and longitude alike)

    **liver**: 218 rows, 4 columns. Patients with one of four liver diseases and three of the four serum
    enzymes of [Plomteux 1980] (OCT is not in this copy). ``disease`` is a plain string: AVH acute viral
    hepatitis (57), PCH persistent chronic hepatitis (44), ACH aggressive chronic hepatitis (40), PNC
    postnecrotic cirrhosis (77). ``ast``, ``alt`` and ``gldh`` are the activities of aspartate and alanine
    aminotransferase and of glutamate dehydrogenase.

    **forest**: 2724 rows, 55 columns, all integers. Patches of 30 m × 30 m in the Roosevelt National Forest,
    Colorado, from the UCI "Covertype" data [Blackard & Dean 1999] (copyright Jock A. Blackard and Colorado
    State University; reuse is unlimited if this notice is retained). Only two of the seven cover types are
    here; ``cover_type`` keeps UCI's codes, 1 spruce/fir (1375) and 7 krummholz (1349). ``elevation`` and the
    ``…distance_to_…`` columns are in metres, ``aspect`` (azimuth) and ``slope`` in degrees, the three
    ``hillshade_…`` columns are indices from 0 to 255 at the summer solstice. ``wilderness_area1`` … ``4``
    and ``soil_type1`` … ``40`` are 0/1 indicators, 15 of which are constant in these rows.

    References
    ----------
    Borchers, Buckland, Priede & Ahmadi (1997), Improving the precision of the daily egg production method using
    generalized additive models; Plomteux (1980), Multivariate analysis of an enzymic profile for the differential
    diagnosis of viral hepatitis; Blackard & Dean (1999), Comparative accuracies of artificial neural networks and
    discriminant analysis in predicting forest cover types from cartographic variables.

    Examples
    --------
    >>> from svmstat import datasets
    >>> mackerel = datasets.load("mackerel")
    >>> mackerel.shape
    (634, 16)
    >>> int((mackerel["egg_count"] > 0).sum())
    369
    """
    path = resources.files(__name__) / _SETS[checks.one_of("name", name, _SETS)][0]
    with path.open("rb") as file:
        return pd.read_csv(file, compression="gzip" if path.name.endswith(".gz") else None)
