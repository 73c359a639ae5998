// Asks the policy as a plain module: `node --test`. What time does to it stands in scenarios.

import assert from "node:assert/strict";
import { test } from "node:test";

import { releasePolicy } from "./policy.js";

const S = 1_000_000_000;
const text = (name, val) => ({ name, value: { tag: "text", val } });

const configured = (limit, fields = []) =>
  releasePolicy.configure({ tools: [], keys: [{ name: "api", limit, fields }], options: [] });

// What is decided about three parked calls of a key whose last execution ended at `lastEnd`.
const decided = (now, limit, fields, lastEnd = null) => {
  assert.equal(configured(limit, fields), "front");
  const calls = [0, 1, 2].map((id) => ({ id, parent: id, tool: 0, key: 0, state: "parked", since: 0 }));
  const usage = { key: 0, running: 0, waiting: 3, ended: 0, failed: 0, lastRelease: lastEnd, lastEnd };
  return releasePolicy.release({ now, running: 0, keys: [usage], calls });
};

test("without a pause they are the default rules", () => {
  assert.deepEqual(decided(0, 2, []), { release: [0, 1], wakeAt: null });
});

test("nothing starts before the pause is over", () => {
  const pause = [text("delay", "2s")];
  assert.deepEqual(decided(S, 1, pause, S), { release: [], wakeAt: 3 * S });
  assert.deepEqual(decided(3 * S, 1, pause, S), { release: [0], wakeAt: null });
});

test("what it does not take is refused", () => {
  assert.throws(() => configured(1, [text("dleay", "2s")]), (thrown) => {
    assert.equal(thrown[0].message, "unknown further field; this policy takes delay, from");
    return true;
  });
});
