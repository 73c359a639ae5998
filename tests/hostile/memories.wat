;; Has a hundred memories.
;; fault: out-of-memory, at load

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(memory 1)

(func $release (result i32)
  (call $rules))
