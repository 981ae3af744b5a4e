"""Step 1: generators of typed graph structure, found by name in ``registry.STRUCTURE_GENERATORS``.

To add a method, write a file with a subclass of ``base.StructureGenerator`` and register it.
"""
