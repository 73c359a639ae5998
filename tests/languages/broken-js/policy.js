// A policy that throws in every question, for the test of what the host makes of it: with QuickJS an exception is the
// function's error, and the instance stays whole.

export const plugin = {
  name: () => "broken",
};

export const releasePolicy = {
  configure: () => "front",
  release: ({ calls }) => ({ release: calls.nothing.of.the.kind, wakeAt: null }),
};
