"""AscendNPU IR text, the driver of the vendor compiler, and the check of what it returns."""
