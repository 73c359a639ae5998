;; Writes lines of 60,000 characters to the log, for ever: few instructions, much work.
;; fault: out-of-fuel or out-of-time

(func $release (result i32)
  (memory.fill (i32.const 8192) (i32.const 0x78) (i32.const 60000))
  (loop $for-ever
    (call $log (i32.const 1) (i32.const 8192) (i32.const 60000))
    (br $for-ever))
  (unreachable))
