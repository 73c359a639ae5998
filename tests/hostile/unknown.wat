;; Releases call 7, which nobody sent, and call 0.
;; fault: invalid-decision

(func $release (result i32)
  (call $add (i32.const 7))
  (call $add (i32.const 0))
  (call $answer))
