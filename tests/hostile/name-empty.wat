;; Has no name: an empty text. Traps, so that the name is shown.
;; fault: trap

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (i32.store (i32.const 80) (i32.const 192))
  (i32.const 80))

(func $release (result i32)
  (unreachable))
