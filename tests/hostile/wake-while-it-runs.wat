;; Releases one call; while that runs it wants to be woken in the past, again and again, once it has been woken at all.
;; fault: spin

(func $view (result i32) (i32.const 1))

(func $release (result i32)
  (call $add-turn)
  (call $answer-until (i64.const 0)))
