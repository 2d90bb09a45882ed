"""Models for other libraries: a Transformer written in their layout, which they load as it is.

The only room where their names appear.
"""
