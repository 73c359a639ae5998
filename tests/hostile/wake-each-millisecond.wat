;; Releases nothing and wants to be woken a millisecond later, for ever: slow, but no fault by the contract.
;; fault: none

(func $release (result i32)
  (call $answer-until (i64.add (global.get $now) (i64.const 1000000))))
