;; Its answer has a wake-up that neither is nor isn't: it says 7 where 0 or 1 stands.
;; fault: unreadable

(func $release (result i32)
  (drop (call $rules))
  (i32.store8 (i32.const 32) (i32.const 7))
  (i32.const 16))
