;; Takes 60 MiB of memory and copies one half of it to the other, for ever.
;; fault: out-of-fuel or out-of-time

(func $release (result i32)
  (drop (memory.grow (i32.const 958)))
  (loop $for-ever
    (memory.copy (i32.shl (memory.size) (i32.const 15)) (i32.const 0) (i32.shl (memory.size) (i32.const 15)))
    (br $for-ever))
  (unreachable))
