"""Tables, pictures, HTML and traces of what a compilation did."""
