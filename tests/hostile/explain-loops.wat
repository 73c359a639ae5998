;; Loops for ever when it is asked why a call waits. That costs the explanation, not the policy.
;; fault: none
;; world: explaining-release-policy-plugin

(func $explain (export "jp:plugin/release-reasons@0.1.0#explain") (param i64 i32 i32 i32 i32 i32 i32) (result i32)
  (loop $for-ever (br $for-ever))
  (unreachable))

(func $release (result i32)
  (call $rules))
