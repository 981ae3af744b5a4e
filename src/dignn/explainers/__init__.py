"""Explainers: ``base`` walks the five steps, ``registry`` finds a method by name, ``methods`` is a folder of them.

A method says where candidates come from; checks, selection, metrics and the run folder are the same for all.
"""
