"""Executed documents, one per paper or task: ``python -m vignettes``."""
