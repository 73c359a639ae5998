use jp_policy_core::policy::Native;

use super::*;

const GOOD: &str = "title = \"good\"\n[conversation.tools.t]\n[[call]]\nname = \"A\"\ntool = \"t\"\n[expect]\nstarts = \"A@0\"\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::TempDir::new().expect("a folder can be made");
    fs::create_dir_all(folder.path().join("b/deep")).expect("a folder can be made");
    let files =
        [("a.toml", "nonsense"), ("b/deep/c.toml", GOOD), ("b/d.toml", GOOD), ("b/README.md", "")];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

fn names(folder: &Path, files: &[PathBuf]) -> Vec<String> {
    let name = |file: &PathBuf| {
        let file = file.strip_prefix(folder).expect("it is below");
        file.display().to_string()
    };
    files.iter().map(name).collect()
}

#[test]
fn scenarios_are_found_in_order_and_no_folder_twice() {
    let folder = folder();
    let path = folder.path().to_owned();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, path.join("b/again")).expect("a link can be made");
    let found = find(std::slice::from_ref(&path)).expect("it can be read");
    assert_eq!(names(&path, &found), ["a.toml", "b/d.toml", "b/deep/c.toml"]);
    let error = find(&[path.join("not there")]).expect_err("it is not there");
    assert_eq!(error.path, path.join("not there"));
    assert_eq!(error.error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn each_outcome_is_kept_in_order() {
    let folder = folder();
    let files = find(&[folder.path().to_owned()]).expect("it can be read");
    let loaded = load(&files);
    let rules = Native::rules();
    let policy = |n, _: &Scenario| match n {
        1 => Err("no policy".to_owned()),
        _ => Ok(&rules as &dyn PolicyFactory),
    };
    let tested = judge_all(&loaded, policy, |_| ControlFlow::Continue(()));
    let [bad, broken, good] = &tested[..] else { panic!("three files") };
    assert!(matches!(&bad.outcome, TestOutcome::Broken(why) if why.contains("a.toml:1:9: error:")));
    assert_eq!(broken.problems(), ["no policy"]);
    assert!(good.passed() && good.title == "good");
}

#[test]
fn a_break_leaves_out_what_has_not_begun() {
    let folder = folder();
    let file = folder.path().join("b/d.toml");
    let loaded = load(&vec![file; 1000]);
    let rules = Native::rules();
    let tested = judge_all(&loaded, |_, _| Ok(&rules), |_| ControlFlow::Break(()));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    assert!((1..=cores).contains(&tested.len()), "{}", tested.len());
}
