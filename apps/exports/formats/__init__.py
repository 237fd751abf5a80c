"""One module a format: what it reads and writes. Plain Python, like `domain`."""
