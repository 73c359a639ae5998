;; Writes 100,000 lines to the log with each question, and keeps the default rules.
;; fault: none

(data (i32.const 256) "again")

(func $release (result i32)
  (local $n i32)
  (loop $more
    (call $log (i32.const 1) (i32.const 256) (i32.const 5))
    (local.set $n (i32.add (local.get $n) (i32.const 1)))
    (br_if $more (i32.lt_u (local.get $n) (i32.const 100000))))
  (call $rules))
