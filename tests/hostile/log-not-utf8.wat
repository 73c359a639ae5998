;; Writes what is not UTF-8 to the log.
;; fault: unreadable

(data (i32.const 256) "caf\e9")

(func $release (result i32)
  (call $log (i32.const 1) (i32.const 256) (i32.const 4))
  (call $rules))
