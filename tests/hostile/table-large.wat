;; Begins with a larger table than it may have.
;; fault: out-of-table, at load

(table $table 200000 funcref)

(func $release (result i32)
  (call $rules))
