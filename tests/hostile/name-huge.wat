;; Has a name of 40 million characters.
;; fault: unreadable, at load

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (drop (memory.grow (i32.const 700)))
  (i32.store (i32.const 80) (i32.const 8192))
  (i32.store (i32.const 84) (i32.const 40000000))
  (i32.const 80))

(func $release (result i32)
  (call $rules))
