;; Keeps the default rules, but never releases call 2.
;; fault: stall

(func $release (result i32)
  (local $place i32)
  (block $end
    (loop $next
      (br_if $end (i32.ge_u (local.get $place) (global.get $shown)))
      (if (i32.ne (call $id (local.get $place)) (i32.const 2)) (then (call $add (call $id (local.get $place)))))
      (local.set $place (i32.add (local.get $place) (i32.const 1)))
      (br $next)))
  (call $answer))
