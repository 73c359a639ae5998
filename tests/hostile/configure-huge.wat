;; Refuses the settings with a million problems.
;; fault: unreadable, at configure

(func $configure (export "jp:plugin/release-policy@0.1.0#configure") (param i32 i32 i32 i32 i32 i32) (result i32)
  (drop (memory.grow (i32.const 500)))
  (i32.store8 (i32.const 64) (i32.const 1))
  (i32.store (i32.const 68) (i32.const 65536))
  (i32.store (i32.const 72) (i32.const 1000000))
  (i32.const 64))

(func $release (result i32)
  (call $rules))
