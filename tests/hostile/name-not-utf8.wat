;; Has a name that is not UTF-8.
;; fault: unreadable, at load

(data $own-name (i32.const 192) "caf\e9")

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (i32.store (i32.const 80) (i32.const 192))
  (i32.store (i32.const 84) (i32.const 4))
  (i32.const 80))

(func $release (result i32)
  (call $rules))
