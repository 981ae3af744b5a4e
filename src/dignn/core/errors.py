"""Errors that a user can mend. The command line shows their one sentence instead of a traceback."""


class DignnError(ValueError):
    """Something in the user's input does not fit; the message names the cause and the remedy."""


class UnknownNameError(DignnError, KeyError):
    """A mapping has no such key; also a ``KeyError``, so that ``in`` and ``get`` of mappings work as ever."""

    __str__ = Exception.__str__  # that of KeyError puts the sentence into quotes


class OutOfRangeError(DignnError, IndexError):
    """There is no such place; also an ``IndexError``, which ends a loop over things that have places."""


class SchemaError(DignnError):
    """The data cannot be described by a schema, or does not fit the one that was given."""


class ModelMismatchError(DignnError):
    """The model to explain does not accept graphs of this schema."""


class DatasetUnavailableError(DignnError):
    """A data set is not on this machine."""


class RunFolderError(DignnError):
    """A run folder belongs to another configuration, or is damaged."""


class NotNumbersError(DignnError):
    """A computation gave values that are no numbers, or nothing to choose from."""
