"""Which operators become one kernel: patterns, legality, planner, remarks, layouts."""
