r"""servo_node: an arm of serial servos that takes joint trajectories as ros2_control's controllers do.

joint_trajectory_controller/joint_trajectory -> follower of the chain's joints  \
    gripper_controller/joint_trajectory          -> follower of all other joints    -> servos -> joint_states
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from ik_solver_ros.arm.base import Reading
from ik_solver_ros.arm.servos import servo_arm
from ik_solver_ros.control.servo_cycle import Followers, ServoCycle
from ik_solver_ros.control.tolerances import Tolerances
from ik_solver_ros.errors import ArmError, BusError, CalibrationError, GoalError, IkSolverError, listed
from ik_solver_ros.kinematics.chain import Chain
from ik_solver_ros.kinematics.kernels import Array
from ik_solver_ros.ros.arm_node.controllers import PARAMS as CONTROLLER_PARAMS
from ik_solver_ros.ros.arm_node.controllers import Controller, controllers
from ik_solver_ros.ros.arm_node.trajectory_input import TrajectoryInput
from ik_solver_ros.ros.common.description import when_described
from ik_solver_ros.ros.common.health import Health, Tell
from ik_solver_ros.ros.common.parameters import DESCRIPTION_PARAMS, Param, declare, value, warn_of_unknown
from ik_solver_ros.ros.common.spin import run
from ik_solver_ros.ros.common.steady_clock import SteadyClock
from ik_solver_ros.servo.bus import Port
from ik_solver_ros.servo.calibration import Calibration, load_calibration
from ik_solver_ros.servo.emulated.calibration import emulated_calibration
from ik_solver_ros.servo.emulated.port import EmulatedPort, emulate
from ik_solver_ros.servo.families import EMULATED, FAMILIES
from ik_solver_ros.trajectory.trajectory import State, Trajectory

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
    Param("initial_positions", [], "of emulated servos, of the chain's joints [rad or m]"),
    *CONTROLLER_PARAMS,
)
SLOW = 14.0  # [ms] from a request to its replies: warn; FTDI's adapters wait for 16 by default
HOT = 60  # deg C: warn before the servo gives up at 70


class ServoNode(Node):
    """The node. A thread owns the servos; callbacks take its lock for a moment."""

    def __init__(self) -> None:
        super().__init__("servo_node")
        declare(self, PARAMS)
        self._steady = SteadyClock(self, self._on_jump)
        self._lock = threading.RLock()  # guards the cycle
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._cycle: ServoCycle | None = None
        self._emulated: EmulatedPort | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._controllers: list[Controller] = []
        self._park: dict[str, float] = {}
        self._cycles, self._since = 0, time.monotonic()
        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._input = TrajectoryInput(self, self._accept, self._hold, self._desired)
        Health(self, self._examine)
        when_described(self, self._use)

    def _use(self, chain: Chain) -> None:
        if self._cycle is not None:
            self.get_logger().warning("another robot_description is ignored: restart servo_node to change the robot")
            return
        calibration = self._calibration(chain)
        limits = {joint.name: (joint.lower, joint.upper) for joint in chain.model.joints.values()}
        calibration.fit(limits, chain.joint_names)
        if value(self, "protocol").startswith(EMULATED):
            self._emulate(chain, calibration)
        url = self._emulated.url if self._emulated else value(self, "port")
        if not url:
            raise GoalError(
                "port", "", "the serial port of the arm is wanted, or protocol: emulated:feetech without one"
            )
        port = Port(url, value(self, "baud") or calibration.baud)
        arm = servo_arm(calibration, port, start=self._start(chain), reset_time=self._reset_time())
        # A tick more than the range, to which ticks are clamped: the URDF's limits need not be whole ticks.
        narrower = {j.name: (j.limits[0] - j.per_tick, j.limits[1] + j.per_tick) for j in calibration.joints}
        self._controllers = controllers(self, chain, arm.joint_names, narrower, value(self, "speed_scale"))
        self._park = self._parked(chain)
        self._cycle = cycle = ServoCycle(arm, self._followers)
        cycle.connect(self._steady.now())
        if not calibration.family.measures:
            self.get_logger().warning(
                f"{arm.name} cannot measure: joint_states are estimated, and no pulse is sent before ~/enable_torque; "
                "joints that are not where start_pose has them snap there then"
            )
        elif value(self, "enable_on_start"):
            cycle.enable()
        for controller in self._controllers:
            self._input.serve(controller)
        self.create_service(Trigger, "~/hold", self._on_hold)
        self.create_service(SetBool, "~/enable_torque", self._on_enable)
        self.create_service(SetBool, "~/emergency_stop", self._on_stop)
        warn_of_unknown(self)
        self._thread = threading.Thread(target=self._run, name="servos", daemon=True)
        self._thread.start()
        torque = "on" if cycle.enabled else "off; call ~/enable_torque"
        groups = "; ".join(f"{c.name}: {listed(c.limits.joint_names)}" for c in self._controllers)
        self.get_logger().info(f"ready: {chain.model.name}, {arm.name}, torque {torque} ({groups})")

    def _reset_time(self) -> float:
        return 0.0 if self._emulated else float(value(self, "reset_time"))

    def _start(self, chain: Chain) -> dict[str, float]:
        """Where the chain's joints are declared to be. Raises GoalError."""
        given = value(self, "start_pose")
        if not len(given):
            return {}
        return dict(zip(chain.joint_names, chain.checked(given, "start_pose").tolist()))

    def _parked(self, chain: Chain) -> dict[str, float]:
        """Where the chain's joints are left. Raises GoalError where that cannot be."""
        given = value(self, "park_positions")
        if not len(given):
            if value(self, "on_shutdown") == "park":
                raise GoalError("park_positions", [], f"positions of {listed(chain.joint_names)} are wanted to park")
            return {}
        park = dict(zip(chain.joint_names, chain.checked(given, "park_positions").tolist()))
        for limits in (controller.limits for controller in self._controllers):
            for name, lower, upper in zip(limits.joint_names, limits.lower, limits.upper):
                if not lower <= park.get(name, lower) <= upper:
                    raise GoalError("park_positions", park[name], f"{name} can go from {lower:.4g} to {upper:.4g}")
        return park

    def _calibration(self, chain: Chain) -> Calibration:
        path, protocol = value(self, "calibration"), value(self, "protocol")
        if path:
            found = load_calibration(Path(path))
            if protocol and protocol.removeprefix(EMULATED) != found.protocol:
                raise CalibrationError(f"{path}: protocol {found.protocol!r}, but {protocol!r} was asked for")
            return found
        if not protocol.startswith(EMULATED) or protocol.removeprefix(EMULATED) not in FAMILIES:
            raise CalibrationError(
                "no calibration was given: without it nobody knows which servo moves which joint; "
                "set the parameter calibration, or try protocol: emulated:feetech"
            )
        return emulated_calibration(chain, protocol.removeprefix(EMULATED))

    def _emulate(self, chain: Chain, calibration: Calibration) -> None:
        initial = value(self, "initial_positions")
        start = dict(zip(chain.joint_names, initial)) if len(initial) else {}
        self._scratch = tempfile.TemporaryDirectory(prefix="ik_solver_ros_")
        self._emulated = emulate(calibration, start, str(Path(self._scratch.name) / "port"))
        self._emulated.plug()

    def _followers(self, positions: Array) -> Followers:
        return {c.name: (c.follower(positions), c.where) for c in self._controllers}

    # Trajectories and services

    def _accept(self, controller: str, trajectory: Trajectory, stamp: float, tolerances: Tolerances | None) -> int:
        assert self._cycle is not None
        start = None if stamp == 0.0 else self._steady.moment(stamp)
        with self._lock:
            return self._cycle.accept(controller, trajectory, self._steady.now(), start, tolerances)

    def _desired(self, controller: str) -> State:
        assert self._cycle is not None
        with self._lock:
            return self._cycle.desired(controller, self._steady.now())

    def _hold(self, _controller: str = "") -> None:
        """All of the arm: half of one that holds is none."""
        assert self._cycle is not None
        with self._lock:
            self._cycle.hold(self._steady.now())

    def _on_jump(self) -> None:
        self.get_logger().warning("the simulated time has leapt: the arm is held")
        if self._cycle is not None:
            self._hold()

    def _on_hold(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._hold()
        response.success, response.message = True, "holding"
        return response

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        assert self._cycle is not None
        try:
            with self._lock:
                self._cycle.enable() if request.data else self._cycle.release()
            response.success, response.message = True, f"torque {'on' if request.data else 'off'}"
        except (ArmError, BusError) as error:
            response.success, response.message = False, str(error)
        self.get_logger().info(response.message)
        return response

    def _on_stop(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        assert self._cycle is not None
        try:
            with self._lock:
                self._cycle.emergency_stop(request.data)
        except (ArmError, BusError) as error:
            self.get_logger().error(f"emergency stop: {error}")
        response.success, response.message = True, "stopped" if request.data else "released"
        self.get_logger().warning(f"emergency stop: {response.message}")
        return response

    # The servos

    def _run(self) -> None:
        try:
            self._lead()
        except IkSolverError as error:
            self.get_logger().fatal(f"the servos cannot be led any more: {error}")
            self.context.try_shutdown()

    def _lead(self) -> None:
        cycle = self._cycle
        assert cycle is not None
        period = 1.0 / value(self, "cycle_rate")
        due = time.monotonic()
        while not self._stop.is_set():
            with self._lock:
                reading = cycle.step(self._steady.now())
                told, endings = cycle.told(), cycle.endings()
            self._cycles += 1
            for sentence in told:
                log = self.get_logger()
                log.error(sentence.text) if sentence.serious else log.info(sentence.text)
            for controller, ending in endings:
                self._input.ended(controller, ending)
            if reading is not None:
                self._publish(reading)
            due = max(due + period, time.monotonic() - period)
            self._stop.wait(max(due - time.monotonic(), 0.0))

    def _publish(self, reading: Reading) -> None:
        assert self._cycle is not None
        if not self.context.ok():
            self._stop.set()
            return
        message = JointState(
            name=list(self._cycle.arm.joint_names),
            position=reading.positions.tolist(),
            velocity=reading.velocities.tolist(),
        )
        message.header.stamp = self.get_clock().now().to_msg()
        try:
            self._states.publish(message)
        except Exception:  # the context was shut down between the check and here
            if self.context.ok():
                raise

    def _examine(self, tell: Tell) -> None:
        """How the servos are, once a second."""
        cycle = self._cycle
        if cycle is None:
            tell(DiagnosticStatus.WARN, "arm", "waiting for robot_description")
            return
        with self._lock:
            samples, fault, away = dict(cycle.samples), cycle.fault, cycle.followers is None
            enabled, stopped, reconnects = cycle.enabled, cycle.stopped, cycle.reconnects
            time_outs, health = dict(cycle.arm.time_outs), cycle.arm.health()
        now = time.monotonic()
        rate, self._cycles, self._since = self._cycles / max(now - self._since, 1e-3), 0, now
        level, text = DiagnosticStatus.OK, "torque on" if enabled else "torque off"
        if health.get("latency_ms", 0.0) > SLOW:
            level, text = DiagnosticStatus.WARN, f"{text}; replies take long: an FTDI adapter's latency_timer?"
        if stopped:
            level, text = DiagnosticStatus.WARN, "emergency stop"
        if fault:
            level, text = DiagnosticStatus.ERROR, fault
        if away:
            level, text = DiagnosticStatus.ERROR, f"{cycle.arm.name}: away"
        tell(
            level,
            "arm",
            text,
            cycle_rate_hz=rate,
            reconnects=reconnects,
            port=cycle.arm.port.url,
            low_latency=cycle.arm.port.low_latency,
            **health,
            joint_states="measured" if cycle.arm.calibration.family.measures else "estimated",
        )
        for joint in cycle.arm.calibration.joints:
            sample = samples.get(joint.name)
            if sample is None:
                continue
            level, text = DiagnosticStatus.OK, "ok"
            if sample.temperature >= HOT:
                level, text = DiagnosticStatus.WARN, f"hot: {sample.temperature} deg C"
            if sample.faults:
                level, text = DiagnosticStatus.ERROR, listed(sample.faults)
            tell(
                level,
                joint.name,
                text,
                id=joint.id,
                temperature_c=sample.temperature,
                voltage_v=sample.voltage,
                load=sample.load,
                torque=sample.torque,
                time_outs=time_outs.get(joint.id, 0),
            )

    def destroy_node(self) -> None:
        """End the cycle and leave the arm as `on_shutdown` says, then the node."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        if self._cycle is not None:
            try:
                self._cycle.end(value(self, "on_shutdown"), self._park)
            except IkSolverError as error:
                print(f"servo_node: the arm could not be left as it should: {error}", file=sys.stderr)
        if self._emulated is not None:
            self._emulated.unplug()
        if self._scratch is not None:
            self._scratch.cleanup()
        super().destroy_node()


def main(args: list[str] | None = None) -> int:
    """Run servo_node."""
    return run(ServoNode, args)


if __name__ == "__main__":
    sys.exit(main())
