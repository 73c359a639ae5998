;; Has a name of 100,000 characters. Traps, so that the name is shown.
;; fault: trap

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (drop (memory.grow (i32.const 2)))
  (memory.fill (i32.const 8192) (i32.const 0x78) (i32.const 100000))
  (i32.store (i32.const 80) (i32.const 8192))
  (i32.store (i32.const 84) (i32.const 100000))
  (i32.const 80))

(func $release (result i32)
  (unreachable))
