"""Worlds: small data sets that combine properties at random, each with a model that is trained on it in seconds.

``drawing.draw(7)`` makes world 7, bit for bit. Every twelve worlds in a row, from 1, have all properties among them.
"""
