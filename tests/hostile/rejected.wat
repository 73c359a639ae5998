;; Releases call 0 when it sees it no more. Until then: one call at a time.
;; fault: invalid-decision

(func $view (result i32) (i32.const 1))

(func $release (result i32)
  (if (call $id (i32.const 0)) (then (call $add (i32.const 0)) (return (call $answer))))
  (call $turns))
