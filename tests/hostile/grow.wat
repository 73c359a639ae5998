;; Takes memory page by page and traps when it gets no more.
;; fault: out-of-memory

(func $release (result i32)
  (loop $more
    (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
  (unreachable))
