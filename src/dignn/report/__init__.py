"""What people see of a run: page, charts, figures, notebook cards, exports, and what a page needs to be written again.

Everything here turns explanations into something to look at, and changes nothing.
"""
