;; Tells the host to put the first question at an odd address.
;; fault: unreadable

(global $configured-is-over (mut i32) (i32.const 0))

(func $configured (export "cabi_post_jp:plugin/release-policy@0.1.0#configure") (param i32)
  (global.set $configured-is-over (i32.const 1)))

(func $realloc (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
  (if (global.get $configured-is-over) (then (return (i32.const 8193))))
  (call $allocate (local.get $old) (local.get $had) (local.get $align) (local.get $size)))

(func $release (result i32)
  (call $rules))
