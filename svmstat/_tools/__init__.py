"""What every floor may use: checks of arguments, warnings, randomness, files, rows that repeat."""
