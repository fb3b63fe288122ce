"""Command lines: arguments and printing, nothing else."""
