;; Releases nothing and wants to be woken at the last instant that there is, in 584 years, and then again.
;; fault: spin

(func $release (result i32)
  (call $answer-until (i64.const -1)))
