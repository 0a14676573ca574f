"""Showing what was found: pictures, tables, pages."""
