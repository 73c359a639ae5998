// The policy `delay` in C: the default rules, with a pause between the executions of a key.

#include <stdlib.h>
#include <string.h>

#include "release_policy_plugin.h"

// The generated names, shorter.
#define T(name) exports_jp_plugin_release_policy_##name##_t
typedef release_policy_plugin_string_t string;

static const char DELAY[] =
    "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds";
static const char NEGATIVE[] = "a pause can't be negative";
static const char TOO_LONG[] = "a pause can't be longer than 584 years";
static const char FROM[] = "expected \"end\" or \"start\"";
static const char NO_EFFECT[] = "has no effect without `delay`";
static const char UNKNOWN_FIELD[] = "unknown further field; this policy takes delay, from";
static const char UNKNOWN_OPTION[] = "unknown option; this policy takes none";

#define SECOND UINT64_C(1000000000)

typedef struct {
  uint32_t limit;
  bool pauses;
  bool after_start;
  uint64_t length;
} rule;

// By key index.
static rule *rules;
static size_t rules_len;

// How many calls of a key may start, and when the first of them may.
typedef struct {
  uint32_t free;
  uint64_t at;
} turn;

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  // A policy without memory can only trap.
  if (!memory && count) abort();
  return memory;
}

// An instant is 64 bits wide: what lies beyond is never.
static uint64_t later(uint64_t instant, uint64_t nanos) {
  uint64_t sum;
  return __builtin_add_overflow(instant, nanos, &sum) ? UINT64_MAX : sum;
}

static bool equal(const string *text, const char *literal) {
  return text->len == strlen(literal) && memcmp(text->ptr, literal, text->len) == 0;
}

static const char *scale(uint64_t number, uint64_t unit, uint64_t *nanos) {
  return __builtin_mul_overflow(number, unit, nanos) ? TOO_LONG : NULL;
}

// A whole number and a unit. What is wrong with it, or NULL.
static const char *parse(const string *text, uint64_t *nanos) {
  static const struct {
    const char *name;
    uint64_t nanos;
  } UNITS[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", SECOND}, {"m", 60 * SECOND}, {"h", 3600 * SECOND}};
  string rest = *text;
  bool negative = rest.len > 0 && *rest.ptr == '-';
  rest.ptr += negative, rest.len -= negative;
  uint64_t number = 0;
  bool digits = false, too_long = false;
  for (; rest.len > 0 && *rest.ptr >= '0' && *rest.ptr <= '9'; rest.ptr++, rest.len--) {
    digits = true;
    too_long |= __builtin_mul_overflow(number, 10, &number);
    too_long |= __builtin_add_overflow(number, *rest.ptr - '0', &number);
  }
  for (size_t i = 0; digits && i < sizeof UNITS / sizeof *UNITS; i++) {
    if (!equal(&rest, UNITS[i].name)) continue;
    if (negative) return NEGATIVE;
    return too_long ? TOO_LONG : scale(number, UNITS[i].nanos, nanos);
  }
  return DELAY;
}

// The length of a pause. What is wrong with it, or NULL.
static const char *read_length(const T(value) *value, uint64_t *nanos) {
  double number = value->val.number;
  switch (value->tag) {
    case EXPORTS_JP_PLUGIN_RELEASE_POLICY_VALUE_INTEGER:
      return value->val.integer < 0 ? NEGATIVE : scale((uint64_t)value->val.integer, SECOND, nanos);
    case EXPORTS_JP_PLUGIN_RELEASE_POLICY_VALUE_NUMBER:
      if (number != number) return DELAY;
      if (number < 0) return NEGATIVE;
      // To the nearest nanosecond.
      number = number * 1e9 + 0.5;
      if (number >= 0x1p64) return TOO_LONG;
      *nanos = (uint64_t)number;
      return NULL;
    case EXPORTS_JP_PLUGIN_RELEASE_POLICY_VALUE_TEXT:
      return parse(&value->val.text, nanos);
    default:
      return DELAY;
  }
}

static const char *read_after(const T(value) *value, bool *after_start) {
  if (value->tag != EXPORTS_JP_PLUGIN_RELEASE_POLICY_VALUE_TEXT) return FROM;
  *after_start = equal(&value->val.text, "start");
  return *after_start || equal(&value->val.text, "end") ? NULL : FROM;
}

// Adds a problem with a field, if there is one. The host frees what it is given, so all of it is copied.
static void report(T(list_problem) *problems, T(option_key_index) key, const string *field, const char *message) {
  if (!message) return;
  problems->ptr = realloc(problems->ptr, (problems->len + 1) * sizeof *problems->ptr);
  if (!problems->ptr) abort();
  T(problem) *problem = &problems->ptr[problems->len++];
  problem->key = key;
  problem->field.is_some = true;
  release_policy_plugin_string_dup_n(&problem->field.val, (const char *)field->ptr, field->len);
  release_policy_plugin_string_dup(&problem->message, message);
}

static void read_unknown(const T(settings) *settings, T(list_problem) *problems) {
  for (uint32_t index = 0; index < settings->keys.len; index++) {
    const T(list_field) *fields = &settings->keys.ptr[index].fields;
    for (size_t i = 0; i < fields->len; i++) {
      const string *name = &fields->ptr[i].name;
      if (equal(name, "delay") || equal(name, "from")) continue;
      report(problems, (T(option_key_index)){true, index}, name, UNKNOWN_FIELD);
    }
  }
  for (size_t i = 0; i < settings->options.len; i++)
    report(problems, (T(option_key_index)){false, 0}, &settings->options.ptr[i].name, UNKNOWN_OPTION);
}

static rule read_rule(const T(key) *key, uint32_t index, T(list_problem) *problems) {
  rule rule = {.limit = key->limit};
  for (size_t i = 0; i < key->fields.len; i++) {
    const T(field) *field = &key->fields.ptr[i];
    const char *why = NULL;
    if (equal(&field->name, "delay")) {
      rule.pauses = true;
      why = read_length(&field->value, &rule.length);
    } else if (equal(&field->name, "from")) {
      why = read_after(&field->value, &rule.after_start);
      // Fields come sorted by name: `delay` would have been seen.
      if (!why && !rule.pauses) why = NO_EFFECT;
    }
    report(problems, (T(option_key_index)){true, index}, &field->name, why);
  }
  return rule;
}

static turn first_turn(const T(usage) *usage) {
  const rule *rule = &rules[usage->key];
  T(option_instant) last = rule->after_start ? usage->last_release : usage->last_end;
  return (turn){
      .free = rule->limit > usage->running ? rule->limit - usage->running : 0,
      .at = rule->pauses && last.is_some ? later(last.val, rule->length) : 0,
  };
}

void exports_jp_plugin_plugin_name(string *name) { release_policy_plugin_string_dup(name, "delay"); }

// Like all that follows: the arguments are the callee's to free, `true` stands for a result, `false` for an error.
bool exports_jp_plugin_release_policy_configure(T(settings) *settings, T(view) *view, T(list_problem) *problems) {
  *problems = (T(list_problem)){0};
  read_unknown(settings, problems);
  rules_len = settings->keys.len;
  rules = allocate(rules_len, sizeof *rules);
  for (uint32_t index = 0; index < rules_len; index++)
    rules[index] = read_rule(&settings->keys.ptr[index], index, problems);
  exports_jp_plugin_release_policy_settings_free(settings);
  *view = EXPORTS_JP_PLUGIN_RELEASE_POLICY_VIEW_FRONT;
  return problems->len == 0;
}

bool exports_jp_plugin_release_policy_release(T(batch) *batch, T(decision) *decision, string *error) {
  (void)error;
  *decision = (T(decision)){0};
  turn *turns = allocate(rules_len, sizeof *turns);
  for (size_t i = 0; i < batch->keys.len; i++) turns[batch->keys.ptr[i].key] = first_turn(&batch->keys.ptr[i]);
  uint32_t *release = decision->release.ptr = allocate(batch->calls.len, sizeof *release);
  for (size_t i = 0; i < batch->calls.len; i++) {
    const T(call) *call = &batch->calls.ptr[i];
    bool parked = call->state == EXPORTS_JP_PLUGIN_RELEASE_POLICY_STATE_PARKED;
    if (!call->key.is_some) {
      if (parked) release[decision->release.len++] = call->id;
      continue;
    }
    const rule *rule = &rules[call->key.val];
    turn *turn = &turns[call->key.val];
    if (turn->free == 0 || call->state == EXPORTS_JP_PLUGIN_RELEASE_POLICY_STATE_RUNNING) continue;
    if (!parked) {
      // It holds back all that follow it.
      turn->free = 0;
    } else if (turn->at > batch->now) {
      turn->free = 0;
      if (!decision->wake_at.is_some || turn->at < decision->wake_at.val)
        decision->wake_at = (T(option_instant)){true, turn->at};
    } else {
      release[decision->release.len++] = call->id;
      turn->free--;
      if (rule->pauses && rule->after_start) turn->at = later(batch->now, rule->length);
    }
  }
  if (decision->release.len == 0) free(release);
  free(turns);
  exports_jp_plugin_release_policy_batch_free(batch);
  return true;
}
