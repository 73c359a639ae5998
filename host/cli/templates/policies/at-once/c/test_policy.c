// Asks the policy as plain C, with what the bindings would bring: `cc -std=c2x -Ibindings test_policy.c -o test_policy && ./test_policy`.
// What time does to it stands in `scenarios`.

#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "policy.c"

void release_policy_plugin_string_dup_n(release_policy_plugin_string_t *to, const char *from, size_t length) {
  to->ptr = jp_allocate(length, 1);
  to->len = length;
  memcpy(to->ptr, from, length);
}
void release_policy_plugin_string_dup(release_policy_plugin_string_t *to, const char *from) {
  release_policy_plugin_string_dup_n(to, from, strlen(from));
}
void exports_jp_plugin_release_policy_settings_free(JP(settings) *settings) { (void)settings; }
void exports_jp_plugin_release_policy_batch_free(JP(batch) *batch) { (void)batch; }

static bool configured(uint32_t limit, JP(list_field) fields, JP(list_problem) *problems) {
  JP(key) key = {.limit = limit, .fields = fields};
  JP(settings) settings = {.keys = {&key, 1}};
  JP(view) view;
  return exports_jp_plugin_release_policy_configure(&settings, &view, problems);
}

// How many of so many parked calls start, with key 0 or with none, while so many executions run without a key.
static size_t started(uint32_t limit, bool key, uint32_t count, uint32_t running) {
  JP(list_problem) problems;
  assert(configured(limit, (JP(list_field)){0}, &problems));
  JP(call) calls[8] = {0};
  for (uint32_t id = 0; id < count; id++) {
    calls[id] = (JP(call)){.id = id, .parent = id, .state = EXPORTS_JP_PLUGIN_RELEASE_POLICY_STATE_PARKED};
    calls[id].key.is_some = key;
  }
  JP(usage) usage = {.waiting = count};
  JP(batch) batch = {.running = running, .keys = {&usage, 1}, .calls = {calls, count}};
  JP(decision) decision;
  release_policy_plugin_string_t error;
  assert(exports_jp_plugin_release_policy_release(&batch, &decision, &error));
  for (uint32_t place = 0; place < decision.release.len; place++) assert(decision.release.ptr[place] == place);
  return decision.release.len;
}

int main(void) {
  // No more than so many start.
  assert(started(1, false, 6, 0) == 4);
  assert(started(1, false, 6, 3) == 1);
  assert(started(1, false, 6, 4) == 0);
  // A key has its limit and its order.
  assert(started(1, true, 3, 0) == 1);
  assert(started(2, true, 3, 0) == 2);
  // What it does not take is refused.
  JP(field) field = {.name = {(uint8_t *)"delay", 5}};
  JP(list_problem) problems;
  assert(!configured(1, (JP(list_field)){&field, 1}, &problems));
  assert(problems.len == 1 && problems.ptr[0].field.val.len == 5);
  puts("ok");
  return 0;
}
