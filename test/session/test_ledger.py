from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.session.ledger import GoalLedger


@given(st.lists(st.sampled_from(["accept", "finish", "miss", "drop"])))
def test_every_accepted_goal_is_executed_or_replaced_once(actions):
    ledger, accepted, ended = GoalLedger(), [], []
    for number, action in enumerate(actions):
        if action == "accept":
            before = ledger.accept(number)
        else:
            before = ledger.drop() if action == "drop" else ledger.finish(arrived=action == "finish")
        accepted += [number] * (action == "accept")
        ended += [before] * (before is not None)
        assert ledger.accepted == ledger.executed + ledger.missed + ledger.replaced + (ledger.pursued is not None)
    assert ended == accepted[: len(ended)] and len(accepted) - len(ended) in (0, 1)
