;; Writes a line of ten million characters to the log, and keeps the default rules. Long lines are cut.
;; fault: none

(func $release (result i32)
  (drop (memory.grow (i32.const 160)))
  (memory.fill (i32.const 65536) (i32.const 0x78) (i32.const 10000000))
  (call $log (i32.const 1) (i32.const 65536) (i32.const 10000000))
  (call $rules))
