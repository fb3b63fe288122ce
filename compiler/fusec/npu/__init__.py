"""Passes that read and write the npu level."""
