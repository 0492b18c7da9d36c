"""The trained agent at work on somebody's own repository: a snapshot, tests, places to look, candidates, and the best of them."""
