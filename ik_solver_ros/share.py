"""Where the package's urdf/, config/ and launch/ are: in a checkout, or in share/ after pip or colcon."""

from __future__ import annotations

from pathlib import Path


def share_dir() -> Path:
    """The directory that holds urdf/ and config/. Raises FileNotFoundError where the installation lacks them."""
    here = Path(__file__).resolve()
    checkout = here.parents[1]
    if (checkout / "package.xml").is_file():
        return checkout
    # lib/python3.x/site-packages/ik_solver_ros/share.py -> share/ik_solver_ros, whatever lies between
    for parent in here.parents:
        if (parent / "share" / "ik_solver_ros" / "package.xml").is_file():
            return parent / "share" / "ik_solver_ros"
    raise FileNotFoundError(
        f"share/ik_solver_ros is not to be found above {here}; was the package installed with pip or colcon?"
    )
