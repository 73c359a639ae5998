;; Releases the call with the largest id that there can be.
;; fault: invalid-decision

(func $release (result i32)
  (call $add (i32.const -1))
  (call $answer))
