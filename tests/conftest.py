"""Settings of Hypothesis for all tests: the same examples in every run, no time limit for one of them."""

from hypothesis import settings

settings.register_profile("svmstat", deadline=None, derandomize=True, max_examples=50, print_blob=True)
settings.load_profile("svmstat")
