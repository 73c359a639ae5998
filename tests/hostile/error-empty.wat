;; Answers with an error that says nothing.
;; fault: error

(func $release (result i32)
  (call $fail (i32.const 256) (i32.const 0)))
