;; The default rules, and nothing else: what is hostile about the others is theirs.
;; fault: none

(func $release (result i32)
  (call $rules))
