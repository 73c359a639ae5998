// The default rules, and no more than AT_ONCE executions at once, over all keys.

#include "jp_policy.h"

// The idea, and what to change first.
#define AT_ONCE 4

static uint32_t *limits; // by key index

void exports_jp_plugin_plugin_name(release_policy_plugin_string_t *name) {
  release_policy_plugin_string_dup(name, "{{name}}");
}

// Like all that follows: the arguments are the callee's to free, `true` stands for the result, `false` for the error.
bool exports_jp_plugin_release_policy_configure(JP(settings) *settings, JP(view) *view, JP(list_problem) *problems) {
  limits = jp_limits(settings);
  bool taken = jp_refuse_all(settings, problems); // by name, so that a typo is never silent
  exports_jp_plugin_release_policy_settings_free(settings);
  *view = EXPORTS_JP_PLUGIN_RELEASE_POLICY_VIEW_FRONT;
  return taken;
}

bool exports_jp_plugin_release_policy_release(JP(batch) *batch, JP(decision) *decision, release_policy_plugin_string_t *error) {
  (void)error;
  uint32_t free_slots = batch->running < AT_ONCE ? AT_ONCE - batch->running : 0;
  *decision = (JP(decision)){.release = jp_rules_release(limits, batch)};
  jp_keep_first(&decision->release, free_slots);
  exports_jp_plugin_release_policy_batch_free(batch);
  return true;
}
