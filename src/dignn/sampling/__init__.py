"""Small real graphs: forest fire over a large graph, and the division into what is learned and what is held out.

``division.divide`` gives the kind that a task needs: subgraphs of one graph, or the data's own graphs.
"""
