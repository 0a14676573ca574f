"""One module per kind of source: what its author wrote, as a `Contract`."""
