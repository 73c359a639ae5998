//! C: a compiler that has a C library for WebAssembly makes a module, and the encoder a component of it.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{
    BuildError, Built, Language, Missing, Project, componentize,
    encode::ENCODER,
    error::output,
    tools::{PYTHON_PROGRAMS, find, on_path, pip_install, python_itself},
};

/// The folder of what wit-bindgen has made of the contract: a header, its adapters, and an object with the component's type.
const BINDINGS: &str = "bindings";

/// Versions that Debian has as `clang-NN`, the latest first.
const CLANGS: std::ops::RangeInclusive<u32> = 14..=30;

/// A compiler that builds for WebAssembly, with the arguments that make it.
struct Compiler {
    program: PathBuf,
    /// Its target, and what goes before that.
    args: &'static [&'static str],
    version: String,
}

pub(super) fn build(project: &Project) -> Result<Built, BuildError> {
    let Some(compiler) = compiler(&project.folder) else {
        let mut missing = Missing::default();
        if let Some((what, install)) = python_itself() {
            missing.add(what, install);
        }
        missing.add(
            "no C compiler here has a C library for WebAssembly: neither `zig`, nor a `clang` with wasi-libc",
            pip_install(&project.folder, "ziglang"),
        );
        return Err(BuildError::Missing(missing));
    };
    let scratch = tempfile::tempdir().map_err(|error| BuildError::file(Path::new("."), error))?;
    let module = scratch.path().join("module.wasm");
    // From inside the folder, so that the bytes don't depend on where it is.
    output(
        Command::new(&compiler.program)
            .current_dir(&project.folder)
            .args(compiler.args)
            // A reactor has no `main`; without a size of its own, the stack alone would ask for 16 MiB.
            // C23, by the name that older compilers know too.
            .args(["-mexec-model=reactor", "-std=c2x", "-Wall", "-Wextra", "-Oz", "-s"])
            .arg("-Wl,-z,stack-size=65536")
            .arg(format!("-I{BINDINGS}"))
            .arg("-o")
            .arg(&module)
            .arg(Language::C.file())
            .args(bindings(&project.folder)?),
    )?;
    let module = fs::read(&module).map_err(|error| BuildError::file(&module, error))?;
    Ok(project.built(componentize(&module)?, &compiler.version, ENCODER))
}

/// What the folder of bindings brings to the link, sorted: the order is in the bytes.
fn bindings(folder: &Path) -> Result<Vec<OsString>, BuildError> {
    let path = folder.join(BINDINGS);
    let entries = fs::read_dir(&path).map_err(|error| BuildError::file(&path, error))?;
    let mut files = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| BuildError::file(&path, error))?.file_name();
        let extension = Path::new(&name).extension().and_then(OsStr::to_str);
        if matches!(extension, Some("c" | "o")) {
            files.push(Path::new(BINDINGS).join(name).into_os_string());
        }
    }
    files.sort();
    Ok(files)
}

/// The first that is there: zig's, which brings its library along, then a clang for which one is installed.
fn compiler(folder: &Path) -> Option<Compiler> {
    // As the Python package calls it, and as everybody else does.
    let zig =
        ["python-zig", "zig"].into_iter().find_map(|name| find(folder, PYTHON_PROGRAMS, name));
    if let Some(program) = zig
        && let Ok(version) = output(Command::new(&program).arg("version"))
    {
        let version = format!("zig {}", String::from_utf8_lossy(&version).trim());
        return Some(Compiler { program, args: &["cc", "-target", "wasm32-wasi-musl"], version });
    }
    let newest_first = CLANGS.rev().map(|version| format!("clang-{version}"));
    let names = std::iter::once("clang".to_owned()).chain(newest_first);
    names.filter_map(|name| on_path(&name)).find_map(clang)
}

/// A clang, if it links for WebAssembly.
fn clang(program: PathBuf) -> Option<Compiler> {
    const ARGS: &[&str] = &["--target=wasm32-wasi", "-Wno-deprecated"];
    let scratch = tempfile::tempdir().ok()?;
    let probe = Command::new(&program)
        .args(ARGS)
        .args(["-mexec-model=reactor", "-x", "c", "/dev/null", "-o"])
        .arg(scratch.path().join("probe.wasm"))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        return None;
    }
    let version = output(Command::new(&program).arg("--version")).ok()?;
    let version = String::from_utf8_lossy(&version).lines().next()?.trim().to_owned();
    Some(Compiler { program, args: ARGS, version })
}
