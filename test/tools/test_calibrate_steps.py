"""The steps of the wizard one by one, on unkind servos: port, rate, ids, seam, limits, directions, what is kept."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from unkind_servos import TURN, Board, DirectPort, Joint, Person, UnkindLx16a, robot, unkind

from ik_solver_ros.cli.main import main
from ik_solver_ros.errors import CalibrationError
from ik_solver_ros.servo.bus import Bus
from ik_solver_ros.servo.by_hand import Settings
from ik_solver_ros.servo.calibration import ServoJoint, load_calibration
from ik_solver_ros.servo.continuous import Continuous, Extremes
from ik_solver_ros.servo.families import FAMILIES, load
from ik_solver_ros.tools.calibrate import watched
from ik_solver_ros.tools.calibrate.check import check, table
from ik_solver_ros.tools.calibrate.connect import choose_port, find_rate
from ik_solver_ros.tools.calibrate.give_ids import give_ids
from ik_solver_ros.tools.calibrate.kept import Kept
from ik_solver_ros.tools.calibrate.measure import turned
from ik_solver_ros.tools.calibrate.pictures import draw_pictures, picture_of, shown
from ik_solver_ros.tools.calibrate.wizard import calibrate
from ik_solver_ros.tools.calibrate.words import motion, pose

TICK = math.tau / TURN


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(Bus, "quiet_alone", 0.0)


def by_hand(protocol, port):
    family = FAMILIES[protocol]
    return load(family.by_hand)(family.bus_on(port))


def answering(answers, asked=None):
    """Asks that are answered in turn."""
    left = iter(answers)

    def ask(question, live):
        if asked is not None:
            asked.append(question)
        return next(left)

    return ask


# the port


def test_a_port_is_chosen_by_number_or_by_unplugging():
    there = {"/dev/serial/by-id/usb-A": "a", "/dev/ttyUSB1": "b"}
    said = []
    assert choose_port(lambda: there, answering(["5", "2"]), said.append) == "/dev/ttyUSB1"
    assert any("'5': a number from 1 to 2 is wanted" in text for text in said)
    assert choose_port(lambda: there, answering([""]), said.append) == "/dev/serial/by-id/usb-A"
    seen = iter([there, there, {"/dev/ttyUSB1": "b"}, there])
    assert choose_port(lambda: next(seen), answering(["u", "", "", ""]), said.append) == "/dev/serial/by-id/usb-A"
    seen = iter([{}, there])
    assert choose_port(lambda: next(seen), answering(["", "1"]), said.append) == "/dev/serial/by-id/usb-A"


@pytest.mark.parametrize(
    "protocol, baud", [("feetech", 1_000_000), ("feetech", 115_200), ("dynamixel", 57_600), ("dynamixel", 2_000_000)]
)
def test_the_rate_at_which_servos_answer_is_found(protocol, baud):
    port, said = DirectPort(unkind(protocol, [(1, 100), (3, 200)], baud)), []
    find_rate(port, FAMILIES[protocol], said.append)
    assert port.baud == baud and said == [f"servos answer at {baud} baud"]
    port.servos.all[0].silent = port.servos.all[1].silent = True
    with pytest.raises(
        CalibrationError, match="no servo with an id from 1 to 10 answers on /dev/bench at .* --protocol"
    ):
        find_rate(port, FAMILIES[protocol], said.append)


@pytest.mark.parametrize("protocol", ["feetech", "dynamixel"])
def test_an_adapter_that_echoes_is_not_thirty_servos(protocol):
    port = DirectPort(unkind(protocol, [(4, 100)]), echoes=True)
    servos = by_hand(protocol, port)
    assert servos.found(range(1, 31)) == [4] and servos.position(4) == 100


# ids


@pytest.mark.parametrize("protocol, shop", [("feetech", 1_000_000), ("dynamixel", 57_600)])
def test_servos_get_their_ids_one_at_a_time(so101, protocol, shop):
    box = [unkind(protocol, [(1, 100 * i)], shop).all[0] for i in range(6)]
    box[2] = unkind(protocol, [(7, 300)], shop).all[0]  # one that was used before
    servos, said, asked = unkind(protocol, [(1, 0)]), [], []
    port = DirectPort(servos)
    plugged = iter(box)

    def ask(question, live):
        asked.append(question)
        servos.all = [next(plugged)]
        return ""

    give_ids(so101, by_hand(protocol, port), 1_000_000, ask, said.append)
    assert [servo.get("id") for servo in box] == [1, 2, 3, 4, 5, 6]
    assert {servo.baud for servo in box} == {1_000_000} and port.baud == 1_000_000
    assert all(servo.get("lock") for servo in box if protocol == "feetech")
    assert not any(servo.get("torque_enable") for servo in box)
    assert "gripper: connect its servo alone" in asked[-1] and "torque will be off" in said[0]


def test_two_servos_at_once_get_no_id(so101):
    servos, said = unkind("feetech", [(1, 0), (4, 0)]), []
    give_ids(so101, by_hand("feetech", DirectPort(servos)), 1_000_000, answering(["", "q"]), said.append)
    assert any("servos 1, 4 answer: connect one alone" in text for text in said)
    twins = unkind("feetech", [(1, 0), (1, 900)])
    give_ids(so101, by_hand("feetech", DirectPort(twins)), 1_000_000, answering(["", "q"]), said.append)
    assert any("what comes back from id 1 is damaged: several servos" in text for text in said)
    nobody = unkind("feetech", [(1, 0)], 1_000_000)
    nobody.all[0].silent = True
    give_ids(so101, by_hand("feetech", DirectPort(nobody)), 1_000_000, answering(["99", "", "q"]), said.append)
    assert "no servo answers" in said[-1] and "'99': an id from 1 to 30" in said[-2]
    assert [servo.get("id") for servo in servos.all + twins.all] == [1, 4, 1, 1]


def wizard(chain, servos, truth, out, answers=None, protocol="feetech"):
    """A person who calibrates the one joint of a chain, and what was written."""
    person = Person(DirectPort(servos), servos.all[0], truth, np.random.default_rng(5), answers)
    calibrate(chain, person.port, protocol, out, person.ask, person.said.append)
    return person, load_calibration(out).joints[0]


TRUTH = Joint(2000.0, 1, 1200.0, 2900.0)


def chain_of(truth, around=0.0):
    return robot(*sorted(truth.angle(end) + around for end in (truth.low, truth.high)))


def test_ids_are_offered_where_too_few_answer(so101, tmp_path):
    with pytest.raises(CalibrationError, match="no servo is left for joint 'shoulder_lift'"):
        wizard(so101, unkind("feetech", [(1, 2000)]), TRUTH, tmp_path / "arm.yaml", {"Give ids now": "n"})
    assert (tmp_path / "arm.yaml.partial").exists()


def test_a_range_across_the_seam_is_placed_in_the_middle(tmp_path):
    truth = Joint(4000.0, -1, 3500.0, 5200.0)
    servos = unkind("feetech", [(1, 4000)])
    _, joint = wizard(chain_of(truth), servos, truth, tmp_path / "arm.yaml")
    servo = servos.all[0]
    assert joint.homing_offset == servo.get("homing_offset") != 0 and servo.get("lock") == 1
    assert abs((joint.min + joint.max) / 2 - 2048) <= 2 and joint.direction == -1
    assert joint.zero == (4000 - servo.get("homing_offset")) % TURN
    assert not (tmp_path / "arm.yaml.partial").exists()


def test_an_offset_that_does_not_stay_is_refused(tmp_path):
    truth = Joint(4000.0, -1, 3500.0, 5200.0)
    servos = unkind("feetech", [(1, 4000)])
    servos.all[0].may_keep = lambda: False
    with pytest.raises(CalibrationError, match="keeps its homing_offset at 0, though .* was written"):
        wizard(chain_of(truth), servos, truth, tmp_path / "arm.yaml")
    assert not (tmp_path / "arm.yaml").exists()


def test_an_offset_that_moves_it_elsewhere_is_taken_back(tmp_path):
    truth = Joint(4000.0, -1, 3500.0, 5200.0)
    servos = unkind("feetech", [(1, 4000)])
    servo = servos.all[0]
    servo.says = lambda: (round(servo.position) + servo.get("homing_offset")) % TURN  # the other sign
    with pytest.raises(CalibrationError, match="by the homing offset .* was expected: .* it has 0 again"):
        wizard(chain_of(truth), servos, truth, tmp_path / "arm.yaml")
    assert servo.get("homing_offset") == 0


def test_a_joint_that_turns_more_than_a_turn_is_refused(tmp_path):
    truth = Joint(4000.0, 1, 1000.0, 6000.0)
    with pytest.raises(CalibrationError, match="was turned by .* ticks, and a turn has 4096: where nothing stops"):
        wizard(chain_of(truth), unkind("feetech", [(1, 4000)]), truth, tmp_path / "arm.yaml")


def test_a_servo_in_another_mode_is_put_right_or_left(tmp_path):
    for protocol, register, bad, good in (
        ("feetech", "operating_mode", 1, 0),
        ("feetech", "phase", 0x1C, 0x0C),
        ("dynamixel", "operating_mode", 1, 3),
        ("dynamixel", "drive_mode", 1, 0),
        ("dynamixel", "homing_offset", 1500, 0),
    ):
        servos = unkind(protocol, [(1, 2000)])
        servos.all[0].set(register, bad)
        with pytest.raises(CalibrationError, match="servo 1 cannot be used with"):
            wizard(chain_of(TRUTH), servos, TRUTH, tmp_path / "arm.yaml", {"change that": "n"}, protocol)
        assert servos.all[0].get(register) == bad
        _, joint = wizard(chain_of(TRUTH), servos, TRUTH, tmp_path / "arm.yaml", None, protocol)
        assert servos.all[0].get(register) == good and abs(joint.zero - 2000) <= 3


def test_a_servos_own_limits_are_kept_or_opened(tmp_path):
    servos = unkind("feetech", [(1, 2000)])
    servos.all[0].set("min_position", 1500)
    person, joint = wizard(chain_of(TRUTH), servos, TRUTH, tmp_path / "a.yaml", {"open them": "n"})
    assert joint.min == 1500 and any("goes from 1500 to 4095 ticks only" in text for text in person.said)
    person, joint = wizard(chain_of(TRUTH), servos, TRUTH, tmp_path / "b.yaml", {"open them": "y"})
    assert joint.min == 1210 and servos.all[0].get("min_position") == 0


def test_a_multi_turn_reading_is_folded_into_its_turn(tmp_path):
    """With torque off a Dynamixel counts on; position mode takes 0 to 4095."""
    truth = Joint(6100.0, 1, 5300.0, 7000.0)
    servos = unkind("dynamixel", [(1, 6100)])
    servos.all[0].turns = 0
    _, joint = wizard(chain_of(truth), servos, truth, tmp_path / "arm.yaml", None, "dynamixel")
    assert joint.zero == 6100 - TURN and joint.max < TURN


def test_the_direction_is_what_somebody_sees(tmp_path):
    """Who took the wrong way for the positive one sees it, and says so."""
    person, joint = wizard(chain_of(TRUTH), unkind("feetech", [(1, 2000)]), TRUTH, tmp_path / "a.yaml")
    assert joint.direction == 1 and max(person.path) - person.path[0] == pytest.approx(65, abs=2)
    confused = Person.ask

    class Confused(Person):
        def ask(self, question, live):
            if "positive direction" in question:
                self.lead(self.joint.low + 100, live)
                return ""
            return confused(self, question, live)

    servos = unkind("feetech", [(1, 2000)])
    person = Confused(DirectPort(servos), servos.all[0], TRUTH, np.random.default_rng(1))
    calibrate(chain_of(TRUTH), person.port, "feetech", tmp_path / "b.yaml", person.ask, person.said.append)
    assert load_calibration(tmp_path / "b.yaml").joints[0].direction == 1
    assert any("its direction is the other one" in text for text in person.said)
    assert not servos.all[0].get("torque_enable")


def test_nothing_moves_unasked(tmp_path):
    person, _ = wizard(
        chain_of(TRUTH), unkind("feetech", [(1, 2000)]), TRUTH, tmp_path / "a.yaml", {"shall servo": "n"}
    )
    assert not person.path


def test_a_blocked_servo_is_said_to_be(tmp_path):
    servos = unkind("feetech", [(1, 2000)])
    servos.all[0].blocked = True
    person = Person(DirectPort(servos), servos.all[0], TRUTH, np.random.default_rng(5))
    ask = person.ask
    person_ask = lambda question, live: "y" if "did it go" in question else ask(question, live)  # noqa: E731
    calibrate(chain_of(TRUTH), person.port, "feetech", tmp_path / "a.yaml", person_ask, person.said.append)
    assert any("it came by 0 of 65 ticks only" in text for text in person.said)


def test_a_joint_that_cannot_be_at_zero_is_put_elsewhere(tmp_path):
    """The URDF's limits exclude 0: it is put at the nearer limit, and zero is reckoned."""
    for sign in (1, -1):
        truth = Joint(2000.0, sign, 2300.0, 3300.0) if sign > 0 else Joint(3600.0, sign, 2300.0, 3300.0)
        chain = chain_of(truth)

        class There(Person):
            def ask(self, question, live):
                if "URDF has it at" in question:
                    assert "at 26 degrees" in question
                    self.lead(self.joint.zero + self.joint.sign * 300, live)
                    return ""
                return super().ask(question, live)

        servos = unkind("feetech", [(1, 2500)])
        person = There(DirectPort(servos), servos.all[0], truth, np.random.default_rng(2))
        calibrate(chain, person.port, "feetech", tmp_path / "a.yaml", person.ask, person.said.append)
        joint = load_calibration(tmp_path / "a.yaml").joints[0]
        assert abs(joint.zero - truth.zero) <= 2 and joint.direction == sign
        assert turned(turned(joint, 0.46), 0.46) == joint


# LX-16A


def test_an_lx16a_has_an_id_limits_and_a_mode(so101):
    servos, said = UnkindLx16a({1: 300.0}), []
    port = DirectPort(servos, 115_200)
    hand = by_hand("lx16a", port)
    give_ids(so101, hand, 115_200, answering(["5", "q"]), said.append)
    assert sorted(servos.positions) == [5] and "now id 5" in said[-1]
    with pytest.raises(CalibrationError, match="an LX-16A has 115200 always"):
        hand.renumber(5, 6, 9600)
    servos.modes[5], servos.limits[5] = 1, (200, 900)
    assert hand.settings(5).limits == (200, 900) and "motor mode" in hand.settings(5).wrong[0]
    hand.put_right(5)
    hand.open_limits(5)
    assert hand.settings(5) == Settings((0, 1000))
    for low, high in ((-3, 900), (100, 1020)):
        with pytest.raises(CalibrationError, match=f"from {low} to {high} ticks, but it is led from 0 to 1000 only"):
            hand.place(5, low, high)
    with pytest.raises(CalibrationError, match=r"from 300 by -400 ticks leads outside \[0, 1000\]"):
        hand.move(5, -400)
    assert not servos.torque[5]


@pytest.mark.parametrize("protocol, answer", [("ssc32", b"."), ("maestro", b"\0\0")])
def test_a_board_is_looked_for(protocol, answer):
    family, said = FAMILIES[protocol], []
    port = DirectPort(Board(load(family.codec), answer), 9600)
    find_rate(port, family, said.append)
    assert said == [f"the board answers at {family.bauds[0]} baud"] and port.baud == family.bauds[0]
    port.write = lambda data: None
    with pytest.raises(CalibrationError, match=f"no answer from the {protocol} board on /dev/bench.* 115200"):
        find_rate(port, family, said.append)


# what is kept


def test_a_servo_that_falls_silent_is_waited_for(tmp_path, monkeypatch):
    servos, waited = unkind("feetech", [(1, 2000)]), []

    class Loose(Person):
        def lead(self, to, live):
            self.servo.silent = not waited
            super().lead(to, live)

    def sleep(seconds):
        waited.append(seconds)
        servos.all[0].silent = len(waited) < 3

    monkeypatch.setattr(watched.time, "sleep", sleep)
    person = Loose(DirectPort(servos), servos.all[0], TRUTH, np.random.default_rng(2), {"shall servo": "n"})
    calibrate(chain_of(TRUTH), person.port, "feetech", tmp_path / "a.yaml", person.ask, person.said.append)
    assert len(waited) >= 3
    assert (
        sum("servo 1 does not answer any more: look at power and cables; waiting" in text for text in person.said) == 1
    )


def test_answers_are_kept_after_each_joint(so101, tmp_path):
    out = tmp_path / "arm.yaml"
    servos = unkind("feetech", [(i + 1, 2000) for i in range(6)])

    def first(upto, asked):
        current = [0]
        person = Person(DirectPort(servos), servos.all[0], TRUTH, np.random.default_rng(2), {"shall servo": "n"})

        def ask(question, live):
            asked.append(question)
            if "id of its servo" in question:
                if current[0] == upto:
                    raise KeyboardInterrupt
                current[0] += 1
                person.servo = servos.all[int(question.split("[")[1].split("]")[0]) - 1]
            return person.ask(question, live)

        return ask

    said = []
    with pytest.raises(KeyboardInterrupt):
        calibrate(so101, DirectPort(servos), "feetech", out, first(4, []), said.append)
    assert len(load_calibration(tmp_path / "arm.yaml.partial").joints) == 4 and not out.exists()
    servos.all[2].set("homing_offset", 50)  # and so is another servo now
    asked = []
    calibrate(so101, DirectPort(servos), "feetech", out, first(9, asked), said.append)
    assert sum("id of its servo" in question for question in asked) == 3
    assert "has shoulder_pan, shoulder_lift, elbow_flex, wrist_flex already: go on" in asked[0]
    assert [joint.id for joint in load_calibration(out).joints] == [1, 2, 3, 4, 5, 6]
    assert not (tmp_path / "arm.yaml.partial").exists()


def test_what_was_kept_and_is_of_no_use_is_left_aside(tmp_path):
    said = []
    kept = Kept(tmp_path / "arm.yaml", "feetech", 1_000_000)
    assert kept.before(answering([]), said.append) == {}
    kept.path.write_text("{")
    assert kept.before(answering([]), said.append) == {} and "left aside" in said[-1]
    Kept(tmp_path / "arm.yaml", "dynamixel", 57_600).save((ServoJoint("a", 1, 1, 2000, 1000, 3000, TICK),))
    assert kept.before(answering([]), said.append) == {} and "is of dynamixel servos" in said[-1]


# readings


def test_readings_are_continued_over_the_seam():
    servo = Continuous(4000, TURN)
    assert [servo.follow(ticks) for ticks in (4090, 60, 500, 4000)] == [4090, 4156, 4596, 4000]
    with pytest.raises(CalibrationError, match="by 1500 ticks from one reading to the next: move it slower"):
        servo.follow(5500 % TURN)
    assert Continuous(10, None).follow(1000) == 1000


def test_one_damaged_reading_is_no_end_of_a_range():
    seen = Extremes(100)
    for ticks in (120, 380, 140, 160, 160, 90, 90):
        seen.add(ticks)
    assert (seen.low, seen.high) == (90, 160)


# pictures and words


def test_pictures_are_drawn_beside_the_file(so101, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    out = tmp_path / "arm.yaml"
    drawn = draw_pictures(so101, out)
    assert [path.name for path in drawn[:2]] == ["arm_zero.png", "arm_shoulder_pan.png"] and len(drawn) == 7
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    assert picture_of(out, "gripper") in drawn
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not shown(drawn[0])


def test_poses_and_directions_are_told_in_words(so101):
    told = pose(so101)
    assert "gripper_frame_link at x 0.391, y" in told and "x forward, y to the left, z up" in told
    assert motion(so101, "shoulder_pan").startswith("positive moves gripper_frame_link to the")
    assert motion(so101, "elbow_flex") == "positive moves gripper_frame_link down"
    assert "positive turns gripper_link clockwise for somebody who looks" in motion(so101, "wrist_roll")


# looking at a calibration


def test_a_calibration_is_compared_with_the_servos(tmp_path):
    servos = unkind("feetech", [(1, 2000)])
    chain = chain_of(TRUTH)
    wizard(chain, servos, TRUTH, tmp_path / "a.yaml")
    calibration, hand = load_calibration(tmp_path / "a.yaml"), by_hand("feetech", DirectPort(servos))
    assert not check(calibration, chain, hand)[0].wrong and not check(calibration, chain, None)[0].wrong
    servo = servos.all[0]
    before = bytes(servo.memory)
    for change, said in (
        (lambda: servo.set("homing_offset", 9), "its homing offset is 9, the file's 0: another servo"),
        (lambda: servo.set("min_position", 1500), "its own limits are 1500 to 4095, the calibration has"),
        (lambda: servo.set("operating_mode", 1), "operating mode 1, 0"),
        (lambda: setattr(servo, "position", 3000.0), "it is at 3000 ticks, outside"),
        (lambda: setattr(servo, "silent", True), "servo 1 does not answer"),
    ):
        servo.position = 2000.0
        change()
        row = check(calibration, chain, hand)[0]
        assert len(row.wrong) == 1 and said in row.wrong[0], row.wrong
        assert table([row]).startswith("! joint  id   1")
        servo.memory[:] = before
    lost = check(calibration, chain_of(TRUTH, around=0.3), None)[0]
    assert "the URDF has" in lost.range and "are lost" in lost.range


def test_checking_without_servos_from_a_shell(capsys):
    assert main(["calibrate", "urdf/so101.urdf", "--check", "config/so101_feetech.yaml"]) == 0
    out = capsys.readouterr().out
    assert (
        "shoulder_pan" in out and "the servos were not asked: --port is wanted" in out and "nothing looks wrong" in out
    )


def test_lerobots_files_from_a_shell(tmp_path, capsys):
    import json

    source, out, back = (tmp_path / name for name in ("a.json", "a.yaml", "b.json"))
    row = {"drive_mode": 0, "homing_offset": -12, "range_min": 800, "range_max": 3290}
    names = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
    rows = {name: row | {"id": i + 1} for i, name in enumerate(names)}
    source.write_text(json.dumps(rows))
    more = ["--zero", "elbow_flex=2000", "--gripper-closed", "min"]
    assert main(["calibrate", "urdf/so101.urdf", "--lerobot", str(source), "--out", str(out), *more]) == 0
    zeros = {joint.name: joint.zero for joint in load_calibration(out).joints}
    assert zeros["elbow_flex"] == 2000 and zeros["shoulder_pan"] == 2045 and zeros["gripper"] == 914
    assert "zero is the middle of its range" in capsys.readouterr().out
    assert main(["calibrate", "urdf/so101.urdf", "--to-lerobot", str(out), str(back)]) == 0
    assert json.loads(back.read_text()) == rows
    assert "elbow_flex: where the URDF has 0, LeRobot has -4.0 degrees" in capsys.readouterr().out
    assert main(["calibrate", "urdf/so101.urdf", "--lerobot", str(source), "--out", str(out), "--zero", "elbow"]) == 2
    assert main(["calibrate", "urdf/so101.urdf", "--protocol", "ssc32", "--port", "x", "--ids"]) == 2
