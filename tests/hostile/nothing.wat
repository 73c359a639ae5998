;; Releases nothing, ever.
;; fault: stall

(func $release (result i32)
  (call $answer))
