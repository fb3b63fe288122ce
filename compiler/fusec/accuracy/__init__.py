"""Compares levels with each other and with the oracle."""
