;; Has a name that colours the screen and breaks the line. Traps, so that the name is shown.
;; fault: trap

(data $own-name (i32.const 192) "\1b[31mred\1b[0m\nERROR\e2\80\ae")

(func $name (export "jp:plugin/plugin@0.1.0#name") (result i32)
  (i32.store (i32.const 80) (i32.const 192))
  (i32.store (i32.const 84) (i32.const 21))
  (i32.const 80))

(func $release (result i32)
  (unreachable))
