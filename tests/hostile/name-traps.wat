;; Traps when it is asked for its name.
;; fault: trap, at load

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (unreachable))

(func $release (result i32)
  (call $rules))
