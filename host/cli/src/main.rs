//! `jp-policy`: see the library's `cli`.

fn main() -> std::process::ExitCode {
    jp_policy::cli::main()
}
