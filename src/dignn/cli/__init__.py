"""The command line: one file per command, and what commands share; :func:`dignn.cli.main.main` runs them.

Nothing here imports torch before it is sure that there is something to do, so that help, and the answer to a mistake,
come at once.
"""
