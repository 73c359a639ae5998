;; Refuses the settings for a key that there is not.
;; fault: settings, at configure

;; The key, no field, the message.
(data (i32.const 256)
  "\01\00\00\00" "\63\00\00\00" "\00\00\00\00" "\00\00\00\00" "\00\00\00\00" "\40\02\00\00" "\0b\00\00\00")

(data (i32.const 576) "no such day")

(func $configure (export "jp:plugin/release-policy@0.1.0#configure") (param i32 i32 i32 i32 i32 i32) (result i32)
  (i32.store8 (i32.const 64) (i32.const 1))
  (i32.store (i32.const 68) (i32.const 256))
  (i32.store (i32.const 72) (i32.const 1))
  (i32.const 64))

(func $release (result i32)
  (call $rules))
