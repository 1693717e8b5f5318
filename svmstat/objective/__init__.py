"""What is asked of a fit: losses, costs and priors, ν, upper bounds, and how well predictions do."""
