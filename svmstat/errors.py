"""What svmstat raises and warns: each message says what was given and what is allowed."""


class SvmstatError(Exception):
    """Base class of every error that svmstat raises on purpose."""


class ArgumentError(SvmstatError, ValueError):
    """An argument has a value outside what is allowed."""


class ArgumentTypeError(SvmstatError, TypeError):
    """An argument has a type that cannot be used."""


class FormulaError(SvmstatError, ValueError):
    """A formula cannot be read or evaluated; the message marks the place."""


class DataError(SvmstatError, ValueError):
    """The data do not fit the model: a missing column, an infinite value, a single class, a new level."""


class UnavailableError(SvmstatError, AttributeError):
    """A quantity that this kind of fit does not have."""


class ModelFileError(SvmstatError, ValueError):
    """A file that is no model which can be loaded, or a fit that cannot be stored in one."""


class SvmstatWarning(UserWarning):
    """Base class of svmstat's warnings."""


class CertificateWarning(SvmstatWarning):
    """A solution whose optimality certificate exceeds the tolerance."""


class DesignWarning(SvmstatWarning):
    """Something in the design matrix or the kernel that the user should know."""


class CalibrationWarning(SvmstatWarning):
    """A probability calibration that did not converge."""


class GridWarning(SvmstatWarning):
    """A grid whose best point lies on its edge, or that could not be scored everywhere."""


class LongRunWarning(SvmstatWarning):
    """A computation that is about to take long or much memory: how long, how much, and how to see and stop it."""


class RefitWarning(SvmstatWarning):
    """Refits of another package's model that warned: how many, and of what."""
