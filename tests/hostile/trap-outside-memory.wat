;; Reads outside its memory.
;; fault: trap

(func $release (result i32)
  (i32.load (i32.const -4)))
