"""What `make bench` runs: each script measures one thing and prints a table."""
