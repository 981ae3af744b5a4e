"""Errors that a user can mend. The command line shows their one sentence instead of a traceback."""


class DignnError(ValueError):
    """Something in the user's input does not fit; the message names the cause and the remedy."""


class SchemaError(DignnError):
    """The data cannot be described by a schema, or does not fit the one that was given."""


class ModelMismatchError(DignnError):
    """The model to explain does not accept graphs of this schema."""


class DatasetUnavailableError(DignnError):
    """A data set is not on this machine."""


class RunFolderError(DignnError):
    """A run folder belongs to another configuration, or is damaged."""
