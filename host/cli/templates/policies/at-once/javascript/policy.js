// The default rules, and no more than AT_ONCE executions at once, over all keys.

// The idea, and what to change first.
const AT_ONCE = 4;

let limits = []; // by key index

export const plugin = { name: () => "{{name}}" };

export const releasePolicy = {
  configure({ keys, options }) {
    limits = keys.map(({ limit }) => limit);
    // What is not known is refused by name, so that a typo is never silent.
    const problem = (key, field, what) => ({ key, field, message: `unknown ${what}; this policy takes none` });
    const fields = keys.flatMap((of, key) => of.fields.map(({ name }) => problem(key, name, "further field")));
    const problems = [...fields, ...options.map(({ name }) => problem(null, name, "option"))];
    if (problems.length > 0) throw problems;
    return "front";
  },

  release({ running, keys, calls }) {
    const free = new Map(keys.map((usage) => [usage.key, limits[usage.key] - usage.running]));
    const release = [];
    for (const { id, key, state } of calls) {
      if (state === "running") continue;
      const slots = key == null ? 1 : (free.get(key) ?? 0);
      const starts = state === "parked" && slots > 0 && running + release.length < AT_ONCE;
      if (starts) release.push(id);
      // What can't start holds back all later calls of its key.
      if (key != null) free.set(key, starts ? slots - 1 : 0);
    }
    return { release, wakeAt: null };
  },
};
