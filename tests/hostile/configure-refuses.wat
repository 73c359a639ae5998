;; Refuses the settings with two problems: a field of key 0, and one of no place at all. Their texts could drive a terminal.
;; fault: settings, at configure

;; Each: the key (none or which), the name of the field (none or which), the message.
(data (i32.const 256)
  "\01\00\00\00" "\00\00\00\00" "\01\00\00\00" "\00\02\00\00" "\0a\00\00\00" "\40\02\00\00" "\10\00\00\00"
  "\00\00\00\00" "\00\00\00\00" "\00\00\00\00" "\00\00\00\00" "\00\00\00\00" "\40\02\00\00" "\10\00\00\00")

(data (i32.const 512) "de\1b[31mlay")

(data (i32.const 576) "\1b[2Jno\0d\0asuch day")

(func $configure (export "jp:plugin/release-policy@0.1.0#configure") (param i32 i32 i32 i32 i32 i32) (result i32)
  (i32.store8 (i32.const 64) (i32.const 1))
  (i32.store (i32.const 68) (i32.const 256))
  (i32.store (i32.const 72) (i32.const 2))
  (i32.const 64))

(func $release (result i32)
  (call $rules))
