from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ik_solver_ros.session.ledger import GoalLedger
from ik_solver_ros.session.outcome import Outcome

ANSWERS = [outcome for outcome in Outcome if not outcome.is_end]


@given(st.lists(st.sampled_from([*ANSWERS, "arrive", "miss", "replace"])))
def test_every_accepted_goal_ends_once_and_in_order(events):
    ledger, accepted, ended = GoalLedger(), [], []
    for event in events:
        if isinstance(event, Outcome):
            number = ledger.begin()
            accepted += [number] * event.is_pursued
            end = ledger.answer(event)
        elif event == "replace":
            end = ledger.replace()
        else:
            end = ledger.finish("off" if event == "miss" else "")
        if end is not None:
            ended.append(end.goal_id)
            assert end.outcome.is_end
        assert ledger.accepted == ledger.executed + ledger.missed + ledger.replaced + (ledger.pursued is not None)
    assert ended == accepted[: len(ended)] and len(accepted) - len(ended) in (0, 1)
    assert ledger.refused == events.count(Outcome.REFUSED) and ledger.accepted == len(accepted)


def test_a_refusal_leaves_the_goal_before_it_pursued():
    ledger = GoalLedger()
    first = ledger.begin()
    assert ledger.answer(Outcome.REACHED) is None
    ledger.begin()
    assert ledger.answer(Outcome.REFUSED) is None and ledger.pursued == first
    assert ledger.finish("").outcome is Outcome.EXECUTED
