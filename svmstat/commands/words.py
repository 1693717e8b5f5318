"""What messages that Python's words are in say at a shell."""

_INSTEAD = (
    ("progress=True shows", "--progress shows"),
    ("folds=Series and nested=True", "--folds of a column and --nested"),
    ("criterion=Minimax()", "--criterion minimax"),
    ("minimax() and neyman_pearson(a)", "--criterion minimax and neyman-pearson=LEVEL"),
    (", a kernel such as RBF() or a function K(X, Z)", ""),
    ("nu=(nu_event, nu_other)", "--nu NU_EVENT,NU_OTHER"),
    ("groups=... of svm()", "--groups"),
    (", or one number for each row", ""),
    (", or one label for each row", ""),
    (", -1 for all cores, or None", ", or -1 for all cores"),
    (
        "convert it, as pd.to_numeric(errors='coerce') does",
        "write them without anything else, and leave the fields of missing values empty",
    ),
    ("convert it, as astype(float) does", "write them without anything else"),
    (
        "convert it, as read_csv(decimal=',') does, or with thousands=',' if that is what the commas are",
        "write them with decimal points, and without commas between thousands",
    ),
    ("convert it, ", "write them "),
    ("which is what augment() adds", "which is what predict adds"),
    ("newdata column ", "column "),
    ("newdata", "the file"),
    ("and .str.strip() of the column makes them one", "and without the blanks in the file they are one"),
    (".str.lower() of the column makes them so", "write them alike in the file"),
    ("if it stands for a missing value, make it None", "if it stands for a missing value, leave the field empty"),
)
"""What is for Python, and what is for a shell; of several that fit the first."""


def at_the_shell(message: str) -> str:
    """A message with the options of the command line, and what can be done about a file.

    Examples
    --------
    >>> at_the_shell("--jobs=0 is not allowed: it must be a number of workers, -1 for all cores, or None.")
    '--jobs=0 is not allowed: it must be a number of workers, or -1 for all cores.'
    """
    for words, instead in _INSTEAD:
        message = message.replace(words, instead)
    return message
