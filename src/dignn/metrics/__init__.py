"""Step 5: realism and faithfulness. The paper layer follows the paper's formulas, the sound layer mends them.

A file of ``measures`` declares a metric and all about it; ``run`` measures every column of the table by all of them.
"""
