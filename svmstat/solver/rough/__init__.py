"""Near the solution from anywhere."""
