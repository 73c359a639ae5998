;; Writes what stands outside its memory to the log.
;; fault: unreadable

(func $release (result i32)
  (call $log (i32.const 1) (i32.const 0x7fff0000) (i32.const 4))
  (call $rules))
