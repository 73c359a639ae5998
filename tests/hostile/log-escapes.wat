;; Writes what could drive a terminal to the log, at all levels but that of last words, and keeps the default rules.
;; fault: none

(data (i32.const 256) "\1b]0;owned\07\1b[31mred\r\nERROR \e2\80\aeforged\7f")

(func $release (result i32)
  (local $level i32)
  (loop $more
    (call $log (local.get $level) (i32.const 256) (i32.const 36))
    (local.set $level (i32.add (local.get $level) (i32.const 1)))
    (br_if $more (i32.le_u (local.get $level) (i32.const 3))))
  (call $rules))
