;; The default rules, but ten minutes after the end of an execution before the next: it has every right to wait.
;; fault: none

(global $until (mut i64) (i64.const 0))

(func $release (result i32)
  (if (i32.gt_u (global.get $question) (i32.const 1))
    (then
      (if (i64.eqz (global.get $until))
        (then (global.set $until (i64.add (global.get $now) (i64.const 600000000000)))))
      (if (i64.lt_u (global.get $now) (global.get $until))
        (then (return (call $answer-until (global.get $until)))))))
  (global.set $until (i64.const 0))
  (call $rules))
