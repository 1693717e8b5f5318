"""Which way leads to one solution or to many."""
