;; Traps at every question.
;; fault: trap

(func $release (result i32)
  (unreachable))
