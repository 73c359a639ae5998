;; Loops for ever when it is asked for its name.
;; fault: out-of-fuel, at load

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (loop $for-ever (br $for-ever))
  (unreachable))

(func $release (result i32)
  (call $rules))
