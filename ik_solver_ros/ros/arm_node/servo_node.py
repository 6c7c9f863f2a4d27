"""servo_node: an arm of serial servos that takes joint trajectories as ros2_control's controllers do."""

from __future__ import annotations

import math
import sys
import time
from contextlib import ExitStack, suppress

from rclpy.node import Node
from std_srvs.srv import SetBool

from ik_solver_ros.control.follower_group import Followers
from ik_solver_ros.control.servo_cycle import ServoCycle
from ik_solver_ros.control.servo_watch import OFF
from ik_solver_ros.errors import ArmError, BusError, IkSolverError, listed
from ik_solver_ros.kinematics.arrays import Array
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.ros.arm_node.arm_driver import ArmDriver
from ik_solver_ros.ros.arm_node.arm_node import ArmNode
from ik_solver_ros.ros.arm_node.controllers import PARAMS as CONTROLLER_PARAMS
from ik_solver_ros.ros.arm_node.controllers import Controller, controllers, followers
from ik_solver_ros.ros.arm_node.servo_health import arm_condition, tell_of_servos, torque_text
from ik_solver_ros.ros.arm_node.servo_setup import calibration_of, park_positions_of, servo_arm_of
from ik_solver_ros.ros.common.health import Tell
from ik_solver_ros.ros.common.parameters import DESCRIPTION_PARAMS, Param, value
from ik_solver_ros.ros.common.spin import run
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.servo.families import EMULATED, FAMILIES

CONNECT_EVERY = 0.3  # [s]
PARAMS = (
    *DESCRIPTION_PARAMS,
    Param("port", "", "serial port, best by /dev/serial/by-id/..., or a URL of pyserial's"),
    Param("calibration", "", "path of the arm's calibration (YAML): which servo moves which joint"),
    Param(
        "protocol",
        "",
        f"empty: the calibration's; {EMULATED}feetech (or {listed(list(FAMILIES)[1:])}): without an arm",
    ),
    Param("baud", 0, "of the port; 0: the calibration's", 0, 4_000_000),
    Param("cycle_rate", 100.0, "[Hz] of measuring and leading the servos, and of joint_states", 5.0, 500.0),
    Param("connect_timeout", 3.0, "[s] for which port and servos are tried at the start", 0.0, 600.0),
    Param(
        "tracking_tolerance",
        round(math.degrees(OFF), 1),
        "[deg] that a servo may be away from where it was led in the last moments; farther it is held up, and held",
        1.0,
        90.0,
    ),
    Param("settle", 0.0, "[deg] by which goals may be trimmed at rest, so that sagging joints come nearer", 0.0, 10.0),
    Param("speed_scale", 1.0, "share of the velocity limits that trajectories may use", 0.01, 1.0),
    Param("enable_on_start", True, "bring the torque on at the start, where the arm is"),
    Param(
        "on_shutdown",
        "hold",
        "what becomes of the arm in the end: it stays as it is, goes to park_positions and is let go, or is let go",
        choices=("hold", "park", "release"),
    ),
    Param("park_positions", [], "of the chain's joints [rad or m], for on_shutdown: park"),
    Param("start_pose", [], "of the chain's joints [rad or m], where a board that cannot measure has them; empty: 0"),
    Param(
        "reset_time", 2.0, "[s] that a board takes to start anew when its port is opened, as an Arduino does", 0.0, 10.0
    ),
    Param(
        "emulation",
        "unkind",
        "how emulated servos are: they sag, stick and lag as real ones do, or go exactly where they are told",
        choices=("unkind", "precise"),
    ),
    Param("initial_positions", [], "of emulated servos, of the chain's joints [rad or m]"),
    *CONTROLLER_PARAMS,
)


class ServoDriver(ArmDriver):
    """Servos in a cycle, and services for their torque."""

    fatal = "the servos cannot be led any more"

    def __init__(self, node: Node, steady: SteadyClock, chain: Chain) -> None:
        with ExitStack() as resources:
            calibration = calibration_of(node, chain)
            arm = servo_arm_of(node, chain, calibration, resources)
            groups: list[Controller] = []

            def led_from(positions: Array) -> Followers:
                """Followers; the first time, by the ranges that the servos have told meanwhile."""
                if not groups:
                    joints = arm.calibration.joints
                    # A tick more than the range, to which ticks are clamped: the URDF's limits need not be whole ticks.
                    narrower = {j.name: (j.limits[0] - j.per_tick, j.limits[1] + j.per_tick) for j in joints}
                    groups.extend(controllers(node, chain, arm.joint_names, narrower, value(node, "speed_scale")))
                return followers(groups, positions)

            self._measures = calibration.family.measures
            self._cycle = cycle = ServoCycle(
                arm,
                led_from,
                tracking_tolerance=math.radians(value(node, "tracking_tolerance")),
                settle=math.radians(value(node, "settle")),
            )
            resources.callback(arm.close)
            self._connect(node, steady)
            self._park = park_positions_of(node, chain, groups)
            if not self._measures:
                node.get_logger().warning(
                    f"{arm.name} cannot measure: joint_states are estimated, and no pulse is sent before "
                    "~/enable_torque; joints that the board does not pulse yet, and that are not where start_pose has "
                    "them, snap there then"
                )
            elif value(node, "enable_on_start"):
                cycle.enable()
            self._resources = resources.pop_all()
        super().__init__(node, steady, arm.joint_names, groups, cycle)
        self.summary = f", {arm.name}, {'torque on' if cycle.enabled else torque_text(cycle)}"
        self._period = 1.0 / value(node, "cycle_rate")
        self._on_shutdown = value(node, "on_shutdown")
        self._cycles, self._counted_from = 0, time.monotonic()
        node.create_service(SetBool, "~/enable_torque", self._on_enable)
        node.create_service(SetBool, "~/emergency_stop", self._on_stop)

    def _connect(self, node: Node, steady: SteadyClock) -> None:
        """Connect, again and again for a while: whoever was killed may hold the port still, and servos may start.

        Raises ArmError and BusError.
        """
        patience = value(node, "connect_timeout")
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            with suppress(ArmError, BusError):
                self._cycle.connect(steady.now())
                return
            node.get_logger().warning(f"{self._cycle.arm.name}: no connection yet, tried for {patience:g} s", once=True)
            time.sleep(CONNECT_EVERY)
        self._cycle.connect(steady.now())

    def lead(self) -> None:
        """Measure and lead the servos again and again."""
        log = self._node.get_logger()
        due = time.monotonic()
        while self.going_on():
            with self._lock:
                reading = self._cycle.step(self._steady.now)
                events, endings = self._cycle.events(), self._cycle.endings()
            self._cycles += 1
            for event in events:
                log.error(event.text) if event.serious else log.info(event.text)
            for controller, ending in endings:
                self._input.ended(controller, ending)
            if reading is not None:
                self._publish(self._states, self._joint_state(reading))
            due = max(due + self._period, time.monotonic() - self._period)
            self._ending.wait(max(due - time.monotonic(), 0.0))

    def examine(self, tell: Tell) -> None:
        """How the servos are."""
        cycle, arm = self._cycle, self._cycle.arm
        with self._lock:
            samples, reconnects = cycle.samples, cycle.reconnects
            health, time_outs = arm.health(), dict(arm.time_outs)
            level, text = arm_condition(cycle, health.get("latency_ms", 0.0))
        now = time.monotonic()
        rate, self._cycles, self._counted_from = self._cycles / max(now - self._counted_from, 1e-3), 0, now
        tell(
            level,
            "arm",
            text,
            cycle_rate_hz=rate,
            reconnects=reconnects,
            port=arm.port.url,
            low_latency=arm.port.low_latency,
            **health,
            joint_states="measured" if self._measures else "estimated",
        )
        tell_of_servos(tell, cycle, samples, time_outs)

    def close(self) -> None:
        """Leave the arm as `on_shutdown` says."""
        try:
            self._cycle.end(self._on_shutdown, self._park)
        except IkSolverError as error:
            print(f"servo_node: the arm could not be left as it should: {error}", file=sys.stderr)
        self._resources.close()

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        try:
            with self._lock:
                self._cycle.enable() if request.data else self._cycle.release()
            response.success, response.message = True, f"torque {'on' if request.data else 'off'}"
        except (ArmError, BusError) as error:
            response.success, response.message = False, str(error)
        self._node.get_logger().info(response.message)
        return response

    def _on_stop(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        log = self._node.get_logger()
        try:
            with self._lock:
                self._cycle.emergency_stop(request.data)
        except (ArmError, BusError) as error:
            log.error(f"emergency stop: {error}")
        response.success, response.message = True, "stopped" if request.data else "released"
        log.warning(f"emergency stop: {response.message}")
        return response


def main(args: list[str] | None = None) -> int:
    """Run servo_node."""
    return run(lambda: ArmNode("servo_node", PARAMS, ServoDriver), args)


if __name__ == "__main__":
    sys.exit(main())
