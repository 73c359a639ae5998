;; Wants all memory that 32 bits can address, at once.
;; fault: out-of-memory

(func $release (result i32)
  (drop (memory.grow (i32.const 65534)))
  (call $rules))
