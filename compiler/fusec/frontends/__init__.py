"""Readers of model files: from a file to the graph level."""
