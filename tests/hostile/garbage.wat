;; Fills the heap of the garbage collector, which no memory of its own is.
;; fault: uncompiled, at load

(type $array (array (mut i64)))

(func $release (result i32)
  (local $kept (ref null $array))
  (loop $for-ever
    (local.set $kept (array.new $array (i64.const 0) (i32.const 1000000)))
    (br $for-ever))
  (call $rules))
