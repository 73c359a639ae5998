;; Loops for ever when it is told that the first execution has ended. Until then: the default rules.
;; fault: out-of-fuel

(func $release (result i32)
  (if (i32.eq (global.get $question) (i32.const 2)) (then (loop $for-ever (br $for-ever))))
  (call $rules))
