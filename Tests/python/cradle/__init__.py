"""What the Python tests share; each folder of scripts has a link to it. Modules without a note need the standard library alone."""
