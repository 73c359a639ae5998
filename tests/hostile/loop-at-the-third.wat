;; Answers as the default rules do, and loops for ever when the third call of the batch is the first that it is shown.
;; fault: out-of-fuel

(func $release (result i32)
  (if (i32.eq (call $id (i32.const 0)) (i32.const 2)) (then (loop $for-ever (br $for-ever))))
  (call $rules))
