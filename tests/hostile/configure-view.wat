;; Wants a view that there is not.
;; fault: unreadable, at configure

(func $view (result i32) (i32.const 7))

(func $release (result i32)
  (call $rules))
