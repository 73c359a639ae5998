;; What all hostile policies share. It is put before the fields of each, and together they are a module.
;;
;; A field (blank lines stand between fields) is left out where the policy has one of the same name, and an import where
;; nobody uses it. `{name}` and `{length}` are the policy's name and how long it is.
;;
;; Memory: the answer at 16, the answer of `configure` at 64 and of `name` at 80, what the host answers at 128, the name at
;; 192, texts of the policy from 256, the ids of an answer from 1024, and from 8192 on what the host brings with a question.

(import "jp:host/calls@0.1.0" "arguments" (func $arguments (param $call i32) (param $into i32)))

(import "jp:host/log@0.1.0" "write" (func $log (param $level i32) (param $text i32) (param $length i32)))

(memory $memory (export "memory") 2)

(data $own-name (i32.const 192) "{name}")

;; The number of the question, from 1.
(global $question (mut i32) (i32.const 0))

(global $now (mut i64) (i64.const 0))

(global $running (mut i32) (i32.const 0))

;; Where the calls of the question stand, 32 bytes each: id, parent, tool, key, state (from 20), since.
(global $calls (mut i32) (i32.const 0))

(global $shown (mut i32) (i32.const 0))

;; How many ids stand in the answer.
(global $released (mut i32) (i32.const 0))

(global $heap (mut i32) (i32.const 8192))

;; Where the host wants memory.
(func $realloc (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
  (call $allocate (local.get $old) (local.get $had) (local.get $align) (local.get $size)))

;; Gives out memory and never takes it back; `$configured` and `$asked` do.
(func $allocate (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and
    (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
    (i32.sub (i32.const 0) (local.get $align))))
  (global.set $heap (i32.add (local.get $at) (local.get $size)))
  (if (i32.gt_u (global.get $heap) (i32.shl (memory.size) (i32.const 16)))
    (then (drop (memory.grow (i32.add (i32.const 1)
      (i32.shr_u (i32.sub (global.get $heap) (i32.shl (memory.size) (i32.const 16))) (i32.const 16)))))))
  (memory.copy (local.get $at) (local.get $old) (local.get $had))
  (local.get $at))

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (i32.store (i32.const 80) (i32.const 192))
  (i32.store (i32.const 84) (i32.const {length}))
  (i32.const 80))

;; What it wants to see. 0: `front`, 1: `full`.
(func $view (result i32) (i32.const 0))

(func $configure (export "jp:plugin/release-policy@0.1.0#configure") (param i32 i32 i32 i32 i32 i32) (result i32)
  (i32.store8 (i32.const 64) (i32.const 0))
  (i32.store8 (i32.const 68) (call $view))
  (i32.const 64))

(func $configured (export "cabi_post_jp:plugin/release-policy@0.1.0#configure") (param i32)
  (global.set $heap (i32.const 8192)))

(func $ask (export "jp:plugin/release-policy@0.1.0#release")
  (param $now i64) (param $running i32) (param $keys i32) (param $key-count i32) (param $calls i32) (param $shown i32) (result i32)
  (global.set $question (i32.add (global.get $question) (i32.const 1)))
  (global.set $now (local.get $now))
  (global.set $running (local.get $running))
  (global.set $calls (local.get $calls))
  (global.set $shown (local.get $shown))
  (global.set $released (i32.const 0))
  (call $release))

(func $asked (export "cabi_post_jp:plugin/release-policy@0.1.0#release") (param i32)
  (global.set $heap (i32.const 8192)))

;; The id of a call by its place in the question.
(func $id (param $place i32) (result i32)
  (i32.load (i32.add (global.get $calls) (i32.shl (local.get $place) (i32.const 5)))))

;; 0: pending, 1: parked, 2: running.
(func $state (param $place i32) (result i32)
  (i32.load8_u offset=20 (i32.add (global.get $calls) (i32.shl (local.get $place) (i32.const 5)))))

;; Whether a call is shown that has this state.
(func $shows (param $state i32) (result i32)
  (local $place i32)
  (block $end
    (loop $next
      (br_if $end (i32.ge_u (local.get $place) (global.get $shown)))
      (if (i32.eq (call $state (local.get $place)) (local.get $state)) (then (return (i32.const 1))))
      (local.set $place (i32.add (local.get $place) (i32.const 1)))
      (br $next)))
  (i32.const 0))

;; Adds an id to the answer.
(func $add (param $id i32)
  (i32.store (i32.add (i32.const 1024) (i32.shl (global.get $released) (i32.const 2))) (local.get $id))
  (global.set $released (i32.add (global.get $released) (i32.const 1))))

;; Adds every parked call that is shown.
(func $add-parked
  (local $place i32)
  (block $end
    (loop $next
      (br_if $end (i32.ge_u (local.get $place) (global.get $shown)))
      (if (i32.eq (call $state (local.get $place)) (i32.const 1)) (then (call $add (call $id (local.get $place)))))
      (local.set $place (i32.add (local.get $place) (i32.const 1)))
      (br $next))))

;; Adds the first parked call while nothing runs.
(func $add-turn
  (local $place i32)
  (if (global.get $running) (then (return)))
  (block $end
    (loop $next
      (br_if $end (i32.ge_u (local.get $place) (global.get $shown)))
      (if (i32.eq (call $state (local.get $place)) (i32.const 1)) (then (return (call $add (call $id (local.get $place))))))
      (local.set $place (i32.add (local.get $place) (i32.const 1)))
      (br $next))))

;; Answers with the ids that were added.
(func $answer (result i32)
  (i32.store8 (i32.const 16) (i32.const 0))
  (i32.store (i32.const 24) (i32.const 1024))
  (i32.store (i32.const 28) (global.get $released))
  (i32.store8 (i32.const 32) (i32.const 0))
  (i32.const 16))

;; The same, and wants to be asked again then.
(func $answer-until (param $at i64) (result i32)
  (drop (call $answer))
  (i32.store8 (i32.const 32) (i32.const 1))
  (i64.store (i32.const 40) (local.get $at))
  (i32.const 16))

;; Answers with this list of ids.
(func $answer-with (param $ids i32) (param $count i32) (result i32)
  (drop (call $answer))
  (i32.store (i32.const 24) (local.get $ids))
  (i32.store (i32.const 28) (local.get $count))
  (i32.const 16))

;; Answers with an error.
(func $fail (param $text i32) (param $length i32) (result i32)
  (i32.store8 (i32.const 16) (i32.const 1))
  (i32.store (i32.const 24) (local.get $text))
  (i32.store (i32.const 28) (local.get $length))
  (i32.const 16))

;; With the view `front`: what the default rules release.
(func $rules (result i32)
  (call $add-parked)
  (call $answer))

;; With the view `full`: what they release if there is one key, its limit is 1, and all calls have it.
(func $turns (result i32)
  (call $add-turn)
  (call $answer))
