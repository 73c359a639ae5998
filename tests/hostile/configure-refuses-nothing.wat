;; Refuses the settings and has no problem with them: a list of none.
;; fault: settings, at configure

(func $configure (export "jp:plugin/release-policy@0.1.0#configure") (param i32 i32 i32 i32 i32 i32) (result i32)
  (i32.store8 (i32.const 64) (i32.const 1))
  (i32.const 64))

(func $release (result i32)
  (call $rules))
