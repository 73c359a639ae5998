;; Loops for ever at every question.
;; fault: out-of-fuel or out-of-time

(func $release (result i32)
  (loop $for-ever (br $for-ever))
  (unreachable))
