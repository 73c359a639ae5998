;; Wants to be woken in the past with each answer, but never goes wrong for long: it waits fifty times and then releases a call.
;; fault: none

(global $waited (mut i32) (i32.const 0))

(func $release (result i32)
  (if (i32.lt_u (global.get $waited) (i32.const 50))
    (then
      (global.set $waited (i32.add (global.get $waited) (i32.const 1)))
      (return (call $answer-until (i64.const 0)))))
  (global.set $waited (i32.const 0))
  (call $rules))
