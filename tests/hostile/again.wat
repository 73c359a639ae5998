;; Releases call 0 with every answer.
;; fault: invalid-decision

(func $view (result i32) (i32.const 1))

(func $release (result i32)
  (call $add (i32.const 0))
  (call $answer))
