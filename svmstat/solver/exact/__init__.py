"""From there, or from another solution, to the solution itself."""
