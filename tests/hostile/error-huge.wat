;; Answers with an error of 40 million characters.
;; fault: unreadable

(func $release (result i32)
  (drop (memory.grow (i32.const 700)))
  (call $fail (i32.const 8192) (i32.const 40000000)))
