;; Has a memory that may have two pages, asks 2,000 times for a third, and is refused each time. That is its own affair: it
;; gets nothing.
;; fault: none

(memory $memory (export "memory") 2 2)

(func $release (result i32)
  (local $n i32)
  (loop $more
    (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
    (local.set $n (i32.add (local.get $n) (i32.const 1)))
    (br_if $more (i32.lt_u (local.get $n) (i32.const 2000))))
  (call $rules))
