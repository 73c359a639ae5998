;; Traps when it is given the settings.
;; fault: trap, at configure

(func $configure (export "jp:plugin/release-policy@0.1.0#configure") (param i32 i32 i32 i32 i32 i32) (result i32)
  (unreachable))

(func $release (result i32)
  (call $rules))
