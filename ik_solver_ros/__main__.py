"""python -m ik_solver_ros."""

import sys

from ik_solver_ros.cli.main import main

sys.exit(main())
