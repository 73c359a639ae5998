;; Releases nothing and wants to be woken in the past, again and again.
;; fault: spin

(func $release (result i32)
  (call $answer-until (i64.const 0)))
