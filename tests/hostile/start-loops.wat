;; Loops for ever when it is started, before anybody asks it anything.
;; fault: out-of-fuel, at load

(func $start
  (loop $for-ever (br $for-ever)))

(start $start)

(func $release (result i32)
  (call $rules))
