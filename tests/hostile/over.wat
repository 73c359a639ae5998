;; Remembers the first call that it saw, and releases it once it sees it no more. Until then: one call at a time.
;; fault: invalid-decision

(global $first (mut i32) (i32.const -1))

(func $view (result i32) (i32.const 1))

(func $release (result i32)
  (if (i32.eq (global.get $first) (i32.const -1))
    (then (global.set $first (call $id (i32.const 0))))
    (else
      (if (i32.ne (global.get $first) (call $id (i32.const 0)))
        (then (call $add (global.get $first)) (return (call $answer))))))
  (call $turns))
