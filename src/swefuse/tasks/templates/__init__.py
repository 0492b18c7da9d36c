"""The catalogue: one file for each template, each with a ``TEMPLATE``; see ``tasks/template.py``."""
