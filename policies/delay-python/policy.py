"""The policy `delay` in Python: the default rules, with a pause between the executions of a key."""

import math
import re
from dataclasses import dataclass

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.release_policy import (
    Batch,
    Decision,
    Problem,
    Settings,
    State,
    Usage,
    Value_Integer,
    Value_Number,
    Value_Text,
    View,
)

SECOND = 1_000_000_000
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
END_OF_TIME = 2**64 - 1
DURATION = re.compile("(-?)([0-9]+)(ns|us|ms|s|m|h)")

DELAY = (
    'expected a duration like "2s" or "250ms" (a whole number and ns, us, ms, s, m or h), or a number of seconds'
)
NEGATIVE = "a pause can't be negative"
TOO_LONG = "a pause can't be longer than 584 years"
FROM = 'expected "end" or "start"'
NO_EFFECT = "has no effect without `delay`"


@dataclass
class Rule:
    limit: int
    length: int | None = None
    after: str = "end"


@dataclass
class Turn:
    """How many calls of a key may start, and when the first of them may."""

    free: int
    at: int


# By key index.
rules: list[Rule] = []


class Plugin(exports.Plugin):
    def name(self) -> str:
        return "delay"


class ReleasePolicy(exports.ReleasePolicy):
    def configure(self, settings: Settings) -> View:
        unknown: list[Problem] = []
        wrong: list[Problem] = []
        for index, key in enumerate(settings.keys):
            rule = Rule(key.limit)
            fields = {field.name: field.value for field in key.fields}
            for name, value in fields.items():
                try:
                    match name, value:
                        case "delay", _:
                            rule.length = read_length(value)
                        case "from", Value_Text("end" | "start"):
                            rule.after = value.value
                            if "delay" not in fields:
                                raise ValueError(NO_EFFECT)
                        case "from", _:
                            raise ValueError(FROM)
                        case _:
                            message = "unknown further field; this policy takes delay, from"
                            unknown.append(Problem(index, name, message))
                except ValueError as why:
                    wrong.append(Problem(index, name, str(why)))
            rules.append(rule)
        for option in settings.options:
            unknown.append(Problem(None, option.name, "unknown option; this policy takes none"))
        if unknown or wrong:
            raise Err(unknown + wrong)
        return View.FRONT

    def release(self, batch: Batch) -> Decision:
        release: list[int] = []
        wake_at: int | None = None
        turns = {usage.key: first_turn(usage) for usage in batch.keys}
        for call in batch.calls:
            if call.key is None:
                if call.state == State.PARKED:
                    release.append(call.id)
                continue
            turn = turns.get(call.key)
            if turn is None or turn.free <= 0 or call.state == State.RUNNING:
                continue
            if call.state == State.PENDING:
                # It holds back all that follow it.
                turn.free = 0
            elif turn.at > batch.now:
                turn.free = 0
                wake_at = turn.at if wake_at is None else min(wake_at, turn.at)
            else:
                release.append(call.id)
                turn.free -= 1
                rule = rules[call.key]
                if rule.length is not None and rule.after == "start":
                    turn.at = min(batch.now + rule.length, END_OF_TIME)
        return Decision(release, wake_at)


def first_turn(usage: Usage) -> Turn:
    rule = rules[usage.key]
    last = usage.last_release if rule.after == "start" else usage.last_end
    # An instant is 64 bits wide: what lies beyond is never.
    at = 0 if rule.length is None or last is None else min(last + rule.length, END_OF_TIME)
    return Turn(rule.limit - usage.running, at)


def read_length(value) -> int:
    """Nanoseconds; raises ValueError where the value is no pause."""
    match value:
        case Value_Integer(seconds):
            nanos = seconds * SECOND
        case Value_Number(seconds) if not math.isnan(seconds):
            # To the nearest nanosecond; no pause is as long as 1e20 of them.
            nanos = -1 if seconds < 0 else math.floor(min(seconds * 1e9 + 0.5, 1e20))
        case Value_Text(text) if duration := DURATION.fullmatch(text):
            sign, number, unit = duration.groups()
            # What has more digits than this is too long whatever follows.
            nanos = -1 if sign else int(number.lstrip("0")[:21] or "0") * UNITS[unit]
        case _:
            raise ValueError(DELAY)
    if nanos < 0:
        raise ValueError(NEGATIVE)
    if nanos > END_OF_TIME:
        raise ValueError(TOO_LONG)
    return nanos
