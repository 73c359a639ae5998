;; Takes 60 MiB of memory and fills it with a pattern, for ever.
;; fault: out-of-fuel or out-of-time

(func $release (result i32)
  (drop (memory.grow (i32.const 958)))
  (loop $for-ever
    (memory.fill (i32.const 0) (i32.const 0xaa) (i32.shl (memory.size) (i32.const 16)))
    (br $for-ever))
  (unreachable))
