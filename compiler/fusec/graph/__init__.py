"""Passes that read and write the graph level."""
