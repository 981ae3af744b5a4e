"""Tasks: what a model answers about, and how an answer is read. ``base.TASKS`` finds one by name.

A task is a file here, which is found, and its words in ``evidence.task_words``; nothing else branches on it.
"""
