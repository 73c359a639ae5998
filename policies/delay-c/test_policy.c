// Asks the policy as plain C, with what the bindings would bring: `cc -std=c2x -Ibindings test_policy.c -o test_policy && ./test_policy`.
// What time does to it stands in scenarios.

#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "policy.c"

void release_policy_plugin_string_dup_n(string *to, const char *from, size_t length) {
  to->ptr = allocate(length, 1);
  to->len = length;
  memcpy(to->ptr, from, length);
}
void release_policy_plugin_string_dup(string *to, const char *from) {
  release_policy_plugin_string_dup_n(to, from, strlen(from));
}
void exports_jp_plugin_release_policy_settings_free(T(settings) *settings) { (void)settings; }
void exports_jp_plugin_release_policy_batch_free(T(batch) *batch) { (void)batch; }

static string text(const char *literal) { return (string){(uint8_t *)literal, strlen(literal)}; }

static bool configured(uint32_t limit, const char *name, const char *value, T(list_problem) *problems) {
  T(field) field = {.name = text(name ? name : ""), .value.tag = EXPORTS_JP_PLUGIN_RELEASE_POLICY_VALUE_TEXT};
  field.value.val.text = text(value);
  T(key) key = {.limit = limit, .fields = {&field, name != NULL}};
  T(settings) settings = {.keys = {&key, 1}};
  T(view) view;
  return exports_jp_plugin_release_policy_configure(&settings, &view, problems);
}

// What is decided about three parked calls of a key whose last execution ended at `last_end`.
static T(decision) decided(uint64_t now, uint32_t limit, const char *delay, uint64_t last_end) {
  T(list_problem) problems;
  assert(configured(limit, delay ? "delay" : NULL, delay ? delay : "", &problems));
  T(call) calls[3] = {0};
  for (uint32_t id = 0; id < 3; id++) {
    calls[id] = (T(call)){.id = id, .parent = id, .state = EXPORTS_JP_PLUGIN_RELEASE_POLICY_STATE_PARKED};
    calls[id].key.is_some = true;
  }
  T(usage) usage = {.waiting = 3, .last_end = {true, last_end}};
  T(batch) batch = {.now = now, .keys = {&usage, 1}, .calls = {calls, 3}};
  T(decision) decision;
  string error;
  assert(exports_jp_plugin_release_policy_release(&batch, &decision, &error));
  return decision;
}

int main(void) {
  // Without a pause they are the default rules.
  T(decision) decision = decided(0, 2, NULL, 0);
  assert(decision.release.len == 2 && decision.release.ptr[0] == 0 && decision.release.ptr[1] == 1);
  // Nothing starts before the pause is over.
  decision = decided(SECOND, 1, "2s", SECOND);
  assert(decision.release.len == 0 && decision.wake_at.is_some && decision.wake_at.val == 3 * SECOND);
  decision = decided(3 * SECOND, 1, "2s", SECOND);
  assert(decision.release.len == 1 && !decision.wake_at.is_some);
  // What it does not take is refused.
  T(list_problem) problems;
  assert(!configured(1, "dleay", "2s", &problems) && problems.len == 1);
  puts("ok");
  return 0;
}
