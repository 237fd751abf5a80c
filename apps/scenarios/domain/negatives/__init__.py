"""Negatives: questions and scenarios of other trees that say nothing about this one (4.5)."""
