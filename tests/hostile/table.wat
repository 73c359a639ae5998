;; Takes a thousand elements of a table at a time, for ever.
;; fault: out-of-table

(table $table 1 funcref)

(func $release (result i32)
  (loop $more
    (drop (table.grow $table (ref.null func) (i32.const 1000)))
    (br $more))
  (unreachable))
