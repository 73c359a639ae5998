// Asks the policy as a plain module: `node --test`. What time does to it stands in `scenarios`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { releasePolicy } from "./policy.js";

const configured = (limit, fields = []) =>
  releasePolicy.configure({ tools: [], keys: [{ name: "git", limit, fields }], options: [] });

// What starts of so many parked calls with this key, or with none, while so many executions run without a key.
const started = (limit, key, count, running = 0) => {
  assert.equal(configured(limit), "front");
  const ids = [...Array(count).keys()];
  const calls = ids.map((id) => ({ id, parent: id, tool: 0, key, state: "parked", since: 0 }));
  const usage = { key: 0, running: 0, waiting: count, ended: 0, failed: 0, lastRelease: null, lastEnd: null };
  return releasePolicy.release({ now: 0, running, keys: [usage], calls }).release;
};

test("no more than so many start", () => {
  assert.deepEqual(started(1, null, 6), [0, 1, 2, 3]);
  assert.deepEqual(started(1, null, 6, 3), [0]);
  assert.deepEqual(started(1, null, 6, 4), []);
});

test("a key has its limit and its order", () => {
  assert.deepEqual(started(1, 0, 3), [0]);
  assert.deepEqual(started(2, 0, 3), [0, 1]);
});

test("what it does not take is refused", () => {
  const message = "unknown further field; this policy takes none";
  const fields = [{ name: "delay", value: { tag: "integer", val: 2 } }];
  assert.throws(() => configured(1, fields), (thrown) => {
    assert.deepEqual(thrown, [{ key: 0, field: "delay", message }]);
    return true;
  });
});
