;; Answers with an error whose text is not UTF-8.
;; fault: unreadable

(data (i32.const 256) "caf\e9")

(func $release (result i32)
  (call $fail (i32.const 256) (i32.const 4)))
