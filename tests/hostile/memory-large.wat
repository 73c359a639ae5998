;; Begins with more memory than it may have.
;; fault: out-of-memory, at load

(memory $memory (export "memory") 2000)

(func $release (result i32)
  (call $rules))
