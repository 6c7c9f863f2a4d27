"""Metadata and dependencies are in setup.cfg; here is what goes to share/ and lib/, where ROS looks for it."""

from glob import glob

from setuptools import setup

NAME = "ik_solver_ros"

setup(
    python_requires=">=3.10",  # not in setup.cfg: colcon cannot read what setuptools makes of it there
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
        (f"share/{NAME}/urdf", glob("urdf/*.urdf")),
        (f"share/{NAME}/config", glob("config/*")),
        # `ros2 run` and launch look here, and not among the console scripts of pip
        (f"lib/{NAME}", glob("scripts/*")),
    ],
)
