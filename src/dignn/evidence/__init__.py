"""What an explanation carries beside its graph: effects of removing parts, the nearest real example, sentences.

``gathering.gather`` makes it for all explanations of a run.
"""
