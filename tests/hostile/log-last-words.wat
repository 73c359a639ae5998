;; Says last words with each question, lives on, and keeps the default rules.
;; fault: none

(data (i32.const 256) "all is lost")

(func $release (result i32)
  (call $log (i32.const 4) (i32.const 256) (i32.const 11))
  (call $rules))
