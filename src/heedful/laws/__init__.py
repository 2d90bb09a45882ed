"""The laws every model keeps, whatever its family: a preset named `*_tiny` enrols it.

`check("my_model_tiny")` holds a model of yours to all of them; the tests of this package hold its
own. A law that is broken says what differed and by how much.
"""

from heedful.laws.base import LAWS, LawBroken, Subject, check, enrolled

__all__ = ["LAWS", "LawBroken", "Subject", "check", "enrolled"]
