;; Answers with an error of 100,000 characters.
;; fault: error

(func $release (result i32)
  (drop (memory.grow (i32.const 2)))
  (memory.fill (i32.const 8192) (i32.const 0x78) (i32.const 100000))
  (call $fail (i32.const 8192) (i32.const 100000)))
