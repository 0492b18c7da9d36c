"""One module a page: what it shows, from the files of runs to the values of its template."""
