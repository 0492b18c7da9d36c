"""The pieces of the report page: safe markup, the sections, and the files ``page.html``, ``page.css`` and ``page.js``."""
