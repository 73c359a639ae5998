;; Releases the last parked call while nothing runs: last in, first out. Nobody is harmed, unless the guard is set to `order`.
;; fault: none or out-of-order

(func $view (result i32) (i32.const 1))

(func $release (result i32)
  (if (i32.eqz (global.get $running))
    (then (call $add (call $id (i32.sub (global.get $shown) (i32.const 1))))))
  (call $answer))
