"""What a dataset gives away without the rule: figures that a release is measured by."""
