"""The part of Flux's Python interface that a resource pool meets, written for the tests.

The classes have the names and methods of flux-core (2026, `src/bindings/python/flux`); nothing of its
code is here. Where Flux itself can be imported, the tests take it instead.
"""
