;; Traps when it is started, before anybody asks it anything.
;; fault: trap, at load

(func $start
  (unreachable))

(start $start)

(func $release (result i32)
  (call $rules))
