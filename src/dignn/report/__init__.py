"""What people see of a run: everything here turns explanations into something to look at, and changes nothing.

``page`` puts the report together: ``overview`` and ``classes`` (with ``graphview`` and ``comparison``), how far to
trust it (``trust``, ``measures``; ``verdicts`` and ``summed`` judge the figures in words) and how it was made
(``making``, with ``generators`` and, to make it again, ``reproduce``); ``templates`` and ``charts`` are its HTML and
its charts. ``notebook`` makes the cards of Jupyter, ``figure`` and ``case_study`` the pictures of matplotlib,
``standalone`` SVG files. All of them draw alike, by ``layout``, ``looks``, ``emphasis``, ``legend`` and ``svg``.
Nothing is imported here, so that each costs what it needs. The way in from outside are methods of
:class:`~dignn.explanation.Explanations`; ``dignn.export`` uses ``characters``, ``layout``, ``looks`` and drawings.
"""
