;; Decides by how often it was asked: at odd questions it waits for a second, at even ones it keeps the default rules. Not a
;; pure function, but nothing that a batch could be harmed by.
;; fault: none

(func $release (result i32)
  (if (i32.and (global.get $question) (i32.const 1))
    (then (return (call $answer-until (i64.add (global.get $now) (i64.const 1000000000))))))
  (call $rules))
