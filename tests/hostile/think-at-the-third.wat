;; Answers as the default rules do, but counts to half a million first when the third call of the batch is the first that it is shown.
;; fault: none

(func $release (result i32)
  (local $count i32)
  (if (i32.eq (call $id (i32.const 0)) (i32.const 2))
    (then
      (loop $on
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (br_if $on (i32.lt_u (local.get $count) (i32.const 500000))))))
  (call $rules))
