;; Calls a function that a table does not have.
;; fault: trap

(table $table 1 funcref)

(func $release (result i32)
  (call_indirect $table (result i32) (i32.const 0)))
