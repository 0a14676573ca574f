"""One loader per kind of file: each returns a Contract."""
