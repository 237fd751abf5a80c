"""The demo project: rule texts of our own writing, with work in every stage (rules.json)."""
