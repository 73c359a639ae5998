"""Asks the policy as a plain module: `python3 -m unittest`. What time does to it stands in `scenarios`."""

import sys
import unittest
from pathlib import Path

# The contract's types, as the component will have them.
sys.path.insert(0, str(Path(__file__).parent / "bindings"))

from componentize_py_types import Err
from policy import ReleasePolicy
from wit_world.exports.release_policy import Batch, Call, Field, Key, Settings, State, Usage, Value_Integer, View


def configured(limit, fields=()):
    policy = ReleasePolicy()
    assert policy.configure(Settings([], [Key("git", limit, list(fields))], [])) == View.FRONT
    return policy


def started(limit, key, count, running=0):
    """What starts of so many parked calls with this key, or with none, while so many executions run without a key."""
    calls = [Call(id, id, 0, key, State.PARKED, 0) for id in range(count)]
    usage = Usage(0, 0, count, 0, 0, None, None)
    return configured(limit).release(Batch(0, running, [usage], calls)).release


class Test(unittest.TestCase):
    def test_no_more_than_so_many_start(self):
        self.assertEqual(started(1, None, 6), [0, 1, 2, 3])
        self.assertEqual(started(1, None, 6, running=3), [0])
        self.assertEqual(started(1, None, 6, running=4), [])

    def test_a_key_has_its_limit_and_its_order(self):
        self.assertEqual(started(1, 0, 3), [0])
        self.assertEqual(started(2, 0, 3), [0, 1])

    def test_what_it_does_not_take_is_refused(self):
        with self.assertRaises(Err) as refused:
            configured(1, [Field("delay", Value_Integer(2))])
        self.assertEqual(refused.exception.value[0].message, "unknown further field; this policy takes none")


if __name__ == "__main__":
    unittest.main()
