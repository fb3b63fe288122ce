"""The compiled model on disk."""
