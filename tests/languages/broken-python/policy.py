"""A policy that raises in every question, for the test of what the host makes of it: in Python an exception that is no
`Err` traps, and the instance is lost."""

from wit_world import exports
from wit_world.exports.release_policy import Batch, Decision, Settings, View


class Plugin(exports.Plugin):
    def name(self) -> str:
        return "broken"


class ReleasePolicy(exports.ReleasePolicy):
    def configure(self, settings: Settings) -> View:
        return View.FRONT

    def release(self, batch: Batch) -> Decision:
        return Decision(batch.nothing_of_the_kind, None)
