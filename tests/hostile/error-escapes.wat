;; Answers with an error that clears the screen, colours it, rings, turns the direction of the text and breaks the line.
;; fault: error

(data (i32.const 256) "\1b[2J\1b[31mred\07\e2\80\ae\r\npolicy \"default\" says: all is well\00")

(func $release (result i32)
  (call $fail (i32.const 256) (i32.const 53)))
