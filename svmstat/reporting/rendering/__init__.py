"""One renderer for every result: labelled values and tables as text, HTML, LaTeX and Markdown."""
