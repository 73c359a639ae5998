;; Answers with an error whose text stands outside its memory.
;; fault: unreadable

(func $release (result i32)
  (call $fail (i32.const 0x7fff0000) (i32.const 20)))
