;; Answers with an error.
;; fault: error

(data (i32.const 256) "no key fits the lock")

(func $release (result i32)
  (call $fail (i32.const 256) (i32.const 20)))
