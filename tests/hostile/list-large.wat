;; Releases the calls 0 to 249,999, the largest release that the host reads. The batch does not have most of them.
;; fault: invalid-decision

(func $release (result i32)
  (local $id i32)
  (drop (memory.grow (i32.const 16)))
  (loop $next
    (i32.store (i32.add (i32.const 65536) (i32.shl (local.get $id) (i32.const 2))) (local.get $id))
    (local.set $id (i32.add (local.get $id) (i32.const 1)))
    (br_if $next (i32.lt_u (local.get $id) (i32.const 250000))))
  (call $answer-with (i32.const 65536) (i32.const 250000)))
