"""The default rules, and no more than AT_ONCE executions at once, over all keys."""

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.release_policy import Batch, Decision, Problem, Settings, State, View

# The idea, and what to change first.
AT_ONCE = 4

limits: list[int] = []  # by key index


class Plugin(exports.Plugin):
    def name(self) -> str:
        return "{{name}}"


class ReleasePolicy(exports.ReleasePolicy):
    def configure(self, settings: Settings) -> View:
        limits[:] = [key.limit for key in settings.keys]
        # What is not known is refused by name, so that a typo is never silent.
        unknown = [(index, field.name, "further field") for index, key in enumerate(settings.keys) for field in key.fields]
        unknown += [(None, option.name, "option") for option in settings.options]
        if unknown:
            raise Err([Problem(key, name, f"unknown {what}; this policy takes none") for key, name, what in unknown])
        return View.FRONT

    def release(self, batch: Batch) -> Decision:
        free = {usage.key: limits[usage.key] - usage.running for usage in batch.keys}
        release: list[int] = []
        for call in batch.calls:
            if call.state == State.RUNNING:
                continue
            slots = 1 if call.key is None else free.get(call.key, 0)
            starts = call.state == State.PARKED and slots > 0 and batch.running + len(release) < AT_ONCE
            if starts:
                release.append(call.id)
            if call.key is not None:
                # What can't start holds back all later calls of its key.
                free[call.key] = slots - 1 if starts else 0
        return Decision(release, None)
