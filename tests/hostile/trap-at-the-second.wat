;; Releases the first call and traps when it is told that it has ended.
;; fault: trap

(func $release (result i32)
  (if (i32.eq (global.get $question) (i32.const 2)) (then (unreachable)))
  (call $rules))
