"""SWE-Fuse: train software-engineering agents from proven trajectories and verified, entropy-weighted rewards.

The package is used through the ``swefuse`` command or through the stage functions of its rooms; ``docs/design.md`` draws the house.
Importing it has no side effects and does not import torch.
"""

__version__ = "0.1.0"
