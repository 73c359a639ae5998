"""Asks the policy as a plain module: `python3 -m unittest`. What time does to it stands in scenarios."""

import sys
import unittest
from pathlib import Path

# The contract's types, as the component will have them.
sys.path.insert(0, str(Path(__file__).parent / "bindings"))

import policy
from componentize_py_types import Err
from wit_world.exports.release_policy import Batch, Call, Decision, Field, Key, Settings, State, Usage, Value_Text

S = 1_000_000_000
PAUSE = [Field("delay", Value_Text("2s"))]


def decided(now, limit, fields, last_end=None):
    """What is decided about three parked calls of a key whose last execution ended at `last_end`."""
    policy.rules.clear()  # an instance is configured once
    asked = policy.ReleasePolicy()
    asked.configure(Settings([], [Key("api", limit, fields)], []))
    calls = [Call(id, id, 0, 0, State.PARKED, 0) for id in range(3)]
    return asked.release(Batch(now, 0, [Usage(0, 0, 3, 0, 0, last_end, last_end)], calls))


class Test(unittest.TestCase):
    def test_without_a_pause_they_are_the_default_rules(self):
        self.assertEqual(decided(0, 2, []), Decision([0, 1], None))

    def test_nothing_starts_before_the_pause_is_over(self):
        self.assertEqual(decided(S, 1, PAUSE, S), Decision([], 3 * S))
        self.assertEqual(decided(3 * S, 1, PAUSE, S), Decision([0], None))

    def test_what_it_does_not_take_is_refused(self):
        with self.assertRaises(Err) as refused:
            decided(0, 1, [Field("dleay", Value_Text("2s"))])
        self.assertEqual(refused.exception.value[0].message, "unknown further field; this policy takes delay, from")


if __name__ == "__main__":
    unittest.main()
