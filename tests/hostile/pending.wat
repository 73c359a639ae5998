;; Releases every call that does not run, approved or not.
;; fault: invalid-decision

(func $view (result i32) (i32.const 1))

(func $release (result i32)
  (local $place i32)
  (loop $next
    (if (i32.ne (call $state (local.get $place)) (i32.const 2)) (then (call $add (call $id (local.get $place)))))
    (local.set $place (i32.add (local.get $place) (i32.const 1)))
    (br_if $next (i32.lt_u (local.get $place) (global.get $shown))))
  (call $answer))
