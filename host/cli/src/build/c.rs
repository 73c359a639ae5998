//! C: a compiler that has a C library for WebAssembly makes a module, and the encoder a component of it.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    Artifact, BuildError, Project, componentize,
    encode::ENCODER,
    io::{self, probe},
    layout::BINDINGS,
    tools::{PYTHON_PROGRAMS, find, missing_python_package, on_path},
};

/// Versions that Debian has as `clang-NN`.
const CLANGS: std::ops::RangeInclusive<u32> = 14..=30;

/// A compiler that builds for WebAssembly, with the arguments that make it.
struct Compiler {
    program: PathBuf,
    /// Its target, and what goes before that.
    args: &'static [&'static str],
    version: String,
}

pub(super) fn build(project: &Project) -> Result<Artifact, BuildError> {
    let Some(compiler) = compiler(&project.folder) else {
        let what = "no C compiler here has a C library for WebAssembly: neither `zig`, nor a `clang` with wasi-libc";
        return Err(missing_python_package(&project.folder, "ziglang", what));
    };
    let scratch = io::temporary_folder()?;
    let module = scratch.path().join("module.wasm");
    // From inside the folder, so that the bytes don't depend on where it is.
    io::output(
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
            .arg(project.language.marker_file())
            .args(bindings(&project.folder)?),
    )?;
    Ok(project.artifact(componentize(&io::read(&module)?)?, &compiler.version, ENCODER))
}

/// The bindings that are linked: the adapters, and an object with the component's type. Sorted: the order is in the bytes.
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

/// The first that is found: zig's, which brings its library along, then a clang for which one is installed.
fn compiler(folder: &Path) -> Option<Compiler> {
    // As the Python package calls it, and as everybody else does.
    let zig =
        ["python-zig", "zig"].into_iter().find_map(|name| find(folder, PYTHON_PROGRAMS, name));
    if let Some(program) = zig
        && let Some(version) = probe(&program, &["version"])
    {
        let version = format!("zig {version}");
        return Some(Compiler { program, args: &["cc", "-target", "wasm32-wasi-musl"], version });
    }
    let newest_first = CLANGS.rev().map(|version| format!("clang-{version}"));
    let names = std::iter::once("clang".to_owned()).chain(newest_first);
    names.filter_map(|name| on_path(&name)).find_map(clang)
}

/// A clang, if it links for WebAssembly.
fn clang(program: PathBuf) -> Option<Compiler> {
    const ARGS: &[&str] = &["--target=wasm32-wasi", "-Wno-deprecated"];
    let scratch = io::temporary_folder().ok()?;
    io::output(
        Command::new(&program)
            .args(ARGS)
            .args(["-mexec-model=reactor", "-x", "c", "/dev/null", "-o"])
            .arg(scratch.path().join("probe.wasm")),
    )
    .ok()?;
    let version = probe(&program, &["--version"])?.lines().next()?.trim().to_owned();
    Some(Compiler { program, args: ARGS, version })
}
