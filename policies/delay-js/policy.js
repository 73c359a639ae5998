// The policy `delay` in JavaScript: the default rules, with a pause between the executions of a key.
//
// What the contract's types are here: every number is a Number (so instants are exact up to 2^53 ns, which is 104 days), an
// absent option is null, an enum is its name, a variant has a `tag` and a `val`, and an error is thrown.

const SECOND = 1_000_000_000;
const UNITS = { ns: 1, us: 1_000, ms: 1_000_000, s: SECOND, m: 60 * SECOND, h: 3600 * SECOND };
// The largest Number that is an instant.
const END_OF_TIME = 2 ** 64 - 2048;

const DELAY =
  'expected a duration like "2s" or "250ms" (a whole number and ns, us, ms, s, m or h), or a number of seconds';
const NEGATIVE = "a pause can't be negative";
const TOO_LONG = "a pause can't be longer than 584 years";
const FROM = 'expected "end" or "start"';
const NO_EFFECT = "has no effect without `delay`";

// By key index: { limit, length, after }; a key without a pause has no `length`.
let rules = [];

export const plugin = {
  name: () => "delay",
};

export const releasePolicy = {
  configure({ keys, options }) {
    const unknown = [];
    const wrong = [];
    rules = keys.map(({ limit, fields }, key) => {
      let length = null;
      let after = null;
      for (const { name, value } of fields) {
        const problem = (message) => ({ key, field: name, message });
        if (name === "delay") {
          length = readLength(value);
          if (length.why) wrong.push(problem(length.why));
        } else if (name === "from") {
          after = value.tag === "text" ? value.val : null;
          if (after !== "end" && after !== "start") wrong.push(problem(FROM));
          // Fields come sorted by name: `delay` would have been seen.
          else if (length === null) wrong.push(problem(NO_EFFECT));
        } else {
          unknown.push(problem("unknown further field; this policy takes delay, from"));
        }
      }
      return { limit, length: length?.nanos, after: after ?? "end" };
    });
    for (const { name } of options) {
      unknown.push({ key: null, field: name, message: "unknown option; this policy takes none" });
    }
    if (unknown.length + wrong.length > 0) throw [...unknown, ...wrong];
    return "front";
  },

  release({ now, keys, calls }) {
    const release = [];
    let wakeAt = null;
    const turns = new Map(keys.map((usage) => [usage.key, firstTurn(usage)]));
    for (const { id, key, state } of calls) {
      if (key == null) {
        if (state === "parked") release.push(id);
        continue;
      }
      const turn = turns.get(key);
      if (!turn || turn.free <= 0 || state === "running") continue;
      if (state === "pending") {
        // It holds back all that follow it.
        turn.free = 0;
      } else if (turn.at > now) {
        turn.free = 0;
        if (wakeAt === null || turn.at < wakeAt) wakeAt = turn.at;
      } else {
        release.push(id);
        turn.free -= 1;
        const { length, after } = rules[key];
        if (length !== undefined && after === "start") turn.at = instant(now + length);
      }
    }
    return { release, wakeAt };
  },
};

// How many calls of a key may start, and when the first of them may.
function firstTurn({ key, running, lastRelease, lastEnd }) {
  const { limit, length, after } = rules[key];
  const last = after === "start" ? lastRelease : lastEnd;
  return { free: limit - running, at: length === undefined || last == null ? 0 : instant(last + length) };
}

// What lies beyond the end of time is never.
function instant(nanos) {
  return Math.min(nanos, END_OF_TIME);
}

// { nanos }, or { why } where the value is no pause.
function readLength({ tag, val }) {
  let nanos;
  if (tag === "text") {
    const [, sign, number, unit] = /^(-?)([0-9]+)(ns|us|ms|s|m|h)$/.exec(val) ?? [];
    if (unit === undefined) return { why: DELAY };
    // BigInts are exact where Numbers are not.
    const exact = BigInt(number) * BigInt(UNITS[unit]);
    nanos = sign ? -1 : exact < 2n ** 64n ? instant(Number(exact)) : Infinity;
  } else if (tag === "integer") {
    nanos = val * SECOND;
  } else if (tag === "number" && !Number.isNaN(val)) {
    // To the nearest nanosecond.
    nanos = val < 0 ? -1 : Math.floor(val * 1e9 + 0.5);
  } else {
    return { why: DELAY };
  }
  if (nanos < 0) return { why: NEGATIVE };
  return nanos < 2 ** 64 ? { nanos } : { why: TOO_LONG };
}
