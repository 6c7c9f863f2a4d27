"""Pick something up and put it down elsewhere. Start an arm first, then this:

ros2 launch ik_solver_ros sim.launch.py
python examples/pick_and_place.py
"""

from ik_solver_ros.errors import GoalMissedError, GoalRefusedError
from ik_solver_ros.ros.client import ArmClient

OPEN, CLOSED = 1.2, 0.0  # [rad] of the SO-101's jaw
DOWN = (0, 0, -1)
FROM, TO = (0.24, -0.08, 0.02), (0.24, 0.10, 0.02)  # [m] in base_link
ABOVE = 0.08  # [m]


def over(place):
    return place[0], place[1], place[2] + ABOVE


with ArmClient() as arm:
    try:
        for place, jaw in ((FROM, CLOSED), (TO, OPEN)):
            if jaw == CLOSED:
                arm.gripper(OPEN)
            arm.move_to(over(place), direction=DOWN)
            answer = arm.move_to(place, direction=DOWN)
            print(f"at {place}: {answer.sentence}")
            print(f"the jaw is at {arm.gripper(jaw):.2f} rad")
            arm.move_to(over(place), direction=DOWN)
        arm.home()
    except (GoalRefusedError, GoalMissedError) as error:
        raise SystemExit(f"the arm stays where it is: {error}") from error
