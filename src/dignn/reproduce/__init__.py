"""The paper's tables as definitions: its values, the runs that ours are read from, and what becomes of both.

``tables`` has a file per table, ``registry`` finds them by name. Nothing here runs or loads anything heavy: the command
line makes the runs, and hands them in as :class:`~dignn.reproduce.runs.Run`.
"""
