;; Writes to the log at a level that there is not.
;; fault: unreadable

(func $release (result i32)
  (call $log (i32.const 9) (i32.const 192) (i32.const 4))
  (call $rules))
