"""What a reader sees: summaries, reports, figures, and the text that they are made of."""
