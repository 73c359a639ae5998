;; Waits for a signal that nobody gives, on memory shared between threads: it would sleep where no budget is counted.
;; fault: uncompiled, at load

(memory $shared 1 1 shared)

(func $release (result i32)
  (drop (memory.atomic.wait32 $shared (i32.const 0) (i32.const 0) (i64.const -1)))
  (call $rules))
