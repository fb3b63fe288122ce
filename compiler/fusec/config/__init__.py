"""Options from the environment, files and the command line, as one typed object."""
