;; Loops for ever when the host wants memory for the first question.
;; fault: out-of-fuel

(global $configured-is-over (mut i32) (i32.const 0))

(func $configured (export "cabi_post_jp:plugin/release-policy@0.1.0#configure") (param i32)
  (global.set $configured-is-over (i32.const 1)))

(func $realloc (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
  (if (global.get $configured-is-over) (then (loop $for-ever (br $for-ever))))
  (call $allocate (local.get $old) (local.get $had) (local.get $align) (local.get $size)))

(func $release (result i32)
  (call $rules))
