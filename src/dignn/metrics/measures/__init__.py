"""The metrics, a file for each or for a family: formula, judge and declaration. Every module here is found.

A new one is a file that calls ``metric.declare``; table, page, terminal and documentation follow.
"""
