"""The rewrite driver and the table form of a rule."""
