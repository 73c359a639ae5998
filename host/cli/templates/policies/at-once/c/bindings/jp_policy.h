// The default rules, and the refusal of settings that a policy does not take: what a policy in C adds to.

#pragma once

#include <stdlib.h>
#include <string.h>

#include "release_policy_plugin.h"

// The generated names, shorter.
#define JP(name) exports_jp_plugin_release_policy_##name##_t

// A policy without memory can only trap.
static inline void *jp_allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  return memory;
}

// The limits of the keys, by index.
static inline uint32_t *jp_limits(const JP(settings) *settings) {
  uint32_t *limits = jp_allocate(settings->keys.len, sizeof *limits);
  for (size_t i = 0; i < settings->keys.len; i++) limits[i] = settings->keys.ptr[i].limit;
  return limits;
}

// Adds a problem with a field of a key, or, without a key, with an option. All of it is copied: the adapter frees what it is given.
static inline void jp_problem(JP(list_problem) *problems, JP(option_key_index) key, const release_policy_plugin_string_t *field,
                              const char *message) {
  problems->ptr = realloc(problems->ptr, (problems->len + 1) * sizeof *problems->ptr);
  if (!problems->ptr) abort();
  JP(problem) *problem = &problems->ptr[problems->len++];
  problem->key = key;
  problem->field.is_some = true;
  release_policy_plugin_string_dup_n(&problem->field.val, (const char *)field->ptr, field->len);
  release_policy_plugin_string_dup(&problem->message, message);
}

// Refuses every further field of every key and every option, by name; `true` if there are none.
static inline bool jp_refuse_all(const JP(settings) *settings, JP(list_problem) *problems) {
  *problems = (JP(list_problem)){0};
  for (uint32_t key = 0; key < settings->keys.len; key++) {
    const JP(list_field) *fields = &settings->keys.ptr[key].fields;
    for (size_t i = 0; i < fields->len; i++)
      jp_problem(problems, (JP(option_key_index)){true, key}, &fields->ptr[i].name,
                 "unknown further field; this policy takes none");
  }
  for (size_t i = 0; i < settings->options.len; i++)
    jp_problem(problems, (JP(option_key_index)){false, 0}, &settings->options.ptr[i].name,
               "unknown option; this policy takes none");
  return problems->len == 0;
}

// Drops all but the first `count`. An empty list has no memory, since nobody would free it.
static inline void jp_keep_first(JP(list_call_id) *calls, size_t count) {
  if (calls->len > count) calls->len = count;
  if (calls->len > 0) return;
  free(calls->ptr);
  calls->ptr = NULL;
}

// The calls that may start now, in written order. `limits` is indexed by key. The first call of a key that can't start, for want of
// a slot or because it is pending, holds back all that follow it.
static inline JP(list_call_id) jp_rules_release(const uint32_t *limits, const JP(batch) *batch) {
  JP(list_call_id) release = {jp_allocate(batch->calls.len, sizeof *release.ptr), 0};
  uint32_t *slots = jp_allocate(batch->keys.len, sizeof *slots);
  for (size_t i = 0; i < batch->keys.len; i++) {
    const JP(usage) *usage = &batch->keys.ptr[i];
    slots[i] = limits[usage->key] > usage->running ? limits[usage->key] - usage->running : 0;
  }
  for (size_t i = 0; i < batch->calls.len; i++) {
    const JP(call) *call = &batch->calls.ptr[i];
    bool parked = call->state == EXPORTS_JP_PLUGIN_RELEASE_POLICY_STATE_PARKED;
    if (!call->key.is_some) {
      if (parked) release.ptr[release.len++] = call->id;
      continue;
    }
    if (call->state == EXPORTS_JP_PLUGIN_RELEASE_POLICY_STATE_RUNNING) continue;
    size_t place = 0;
    while (place < batch->keys.len && batch->keys.ptr[place].key != call->key.val) place++;
    if (place == batch->keys.len) continue;
    if (parked && slots[place] > 0) {
      slots[place]--;
      release.ptr[release.len++] = call->id;
    } else {
      slots[place] = 0;
    }
  }
  free(slots);
  jp_keep_first(&release, release.len);
  return release;
}
