;; Explains with what could drive a terminal.
;; fault: none
;; world: explaining-release-policy-plugin

(data (i32.const 256) "\1b[2Jowned\r\nERROR\07")

(func $explain (export "jp:plugin/release-reasons@0.1.0#explain") (param i64 i32 i32 i32 i32 i32 i32) (result i32)
  (i32.store (i32.const 80) (i32.const 256))
  (i32.store (i32.const 84) (i32.const 17))
  (i32.const 80))

(func $release (result i32)
  (call $rules))
