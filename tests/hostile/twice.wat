;; Releases the first parked call twice in one answer.
;; fault: invalid-decision

(func $release (result i32)
  (call $add-turn)
  (call $add-turn)
  (call $answer))
