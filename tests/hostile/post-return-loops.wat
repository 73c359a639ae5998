;; Loops for ever when the host has read the first answer.
;; fault: out-of-fuel

(func $asked (export "cabi_post_jp:plugin/release-policy@0.1.0#release") (param i32)
  (loop $for-ever (br $for-ever)))

(func $release (result i32)
  (call $rules))
