//! What is said of a project in each language: how it is tested, which of its files are what, and what git ignores.

use crate::build::Language;

/// What is said of a project in one language. The rest is in its note, `templates/notes/LANGUAGE.md`.
pub(super) struct Guide {
    /// The command that runs the unit tests, in the project's folder.
    pub(super) test_command: &'static str,
    /// What builds and tests leave in the folder.
    pub(super) ignored: &'static str,
    /// Files and folders, and what each is. Those that a project does not have are left out.
    pub(super) files: &'static [(&'static str, &'static str)],
}

pub(super) fn guide(language: Language) -> Guide {
    match language {
        Language::Rust => Guide {
            test_command: "cargo test",
            ignored: "/target\n",
            files: &[
                ("src/lib.rs", "the policy"),
                ("src/tests.rs", "its unit tests"),
                ("sdk/jp-policy-guest", "the SDK, a copy"),
            ],
        },
        Language::JavaScript => Guide {
            test_command: "node --test",
            ignored: "/node_modules\n",
            files: &[
                ("policy.js", "the policy"),
                ("policy.test.js", "its unit tests"),
                ("package.json", "the version of componentize-qjs, which makes the component"),
            ],
        },
        Language::Python => Guide {
            test_command: "python3 -m unittest",
            ignored: "/.venv\n__pycache__\n",
            files: &[
                ("policy.py", "the policy"),
                ("test_policy.py", "its unit tests"),
                ("requirements.txt", "the version of componentize-py, which makes the component"),
                (
                    "bindings",
                    "the contract's types, for an editor and the unit tests: made by componentize-py, which has its own when it builds",
                ),
            ],
        },
        Language::C => Guide {
            test_command: "cc -std=c2x -Ibindings test_policy.c -o test_policy && ./test_policy",
            ignored: "/.venv\n/test_policy\n",
            files: &[
                ("policy.c", "the policy"),
                ("test_policy.c", "its unit tests"),
                (
                    "bindings",
                    "the contract in C, made by wit-bindgen: what is in there is linked with the policy",
                ),
                ("bindings/jp_policy.h", "the default rules, and what refuses unknown settings"),
                (
                    "requirements.txt",
                    "the version of zig, which is a C compiler with a library for WebAssembly",
                ),
            ],
        },
    }
}
