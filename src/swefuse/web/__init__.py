"""What people see of runs: the pages of ``swefuse serve`` and the terminal view of ``swefuse watch``. Nothing here writes."""
