//! Relative and absolute paths of locators in a project.
//!
//! In the studio the paths of a locator are absolute. In the file, paths inside the project's
//! folder, below it or in a sibling folder are relative to it, with forward slashes, so that the
//! whole tree can move to another place or machine; other paths stay absolute. Parts (`#NAME`),
//! frames (`@N`) and pairs (`A+B`) do not change.

use std::path::{Component, Path, PathBuf};

use pliant::io::{self, LocatorBase};

use crate::model::document::Locator;

/// `locator` as it is written into a project in `folder`, which is absolute.
#[must_use]
pub fn portable(locator: &str, folder: &Path) -> Locator {
    rebuilt(locator, folder, &|path| relative(path, folder))
}

/// `locator` as the studio has it when it stood in a project in `folder`, which is absolute.
#[must_use]
pub fn resolved(locator: &str, folder: &Path) -> Locator {
    rebuilt(locator, folder, &|path| path.display().to_string())
}

/// An absolute path without `.` and `..`, computed from names alone.
#[must_use]
pub fn absolute(path: &Path) -> PathBuf {
    normal(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

fn rebuilt(locator: &str, folder: &Path, write: &dyn Fn(&Path) -> String) -> Locator {
    // A locator that cannot be parsed cannot be loaded either; loading reports the reason.
    let Ok(io::Locator { base, part, frame }) = io::Locator::parse(locator, Some(folder)) else {
        return locator.into();
    };

    let base = match base {
        LocatorBase::Path(path) => write(&normal(&path)),
        LocatorBase::Pair(first, second) => pair(&normal(&first), &normal(&second), write),
        _ => return locator.into(),
    };
    let part = part.map(|part| format!("#{part}")).unwrap_or_default();
    let frame = frame.map(|frame| format!("@{frame}")).unwrap_or_default();

    format!("{base}{part}{frame}")
}

fn pair(first: &Path, second: &Path, write: &dyn Fn(&Path) -> String) -> String {
    let text = write(second);
    // A bare name would be looked for beside the first file.
    let bare = Path::new(&text)
        .parent()
        .is_none_or(|parent| parent.as_os_str().is_empty());
    let dot = if bare && first.parent() != second.parent() {
        "./"
    } else {
        ""
    };

    format!("{}+{dot}{text}", write(first))
}

fn relative(path: &Path, folder: &Path) -> String {
    let beside = folder
        .parent()
        .filter(|parent| parent.file_name().is_some());
    let text = match (
        path.strip_prefix(folder),
        beside.map(|parent| path.strip_prefix(parent)),
    ) {
        (Ok(below), _) => slashed(below),
        (_, Some(Ok(beside))) => format!("../{}", slashed(beside)),
        _ => slashed(path),
    };

    // A file with such a name must not become a built-in asset.
    if text.starts_with("specimen:") {
        format!("./{text}")
    } else {
        text
    }
}

fn slashed(path: &Path) -> String {
    let text = path.display().to_string();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text
    }
}

fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if whole.file_name().is_some() => drop(whole.pop()),
            other => whole.push(other),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project's folder beside others, with files.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("work/project");
        for name in ["work/project/sub", "work/beside", "far"] {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
        }

        for name in [
            "work/project/a.obj",
            "work/project/b.npy",
            "work/project/sub/c.obj",
            "work/project/sub/d.npy",
            "work/beside/e.glb",
            "far/f.glb",
        ] {
            std::fs::write(root.path().join(name), "x").unwrap();
        }

        (root, folder)
    }

    #[test]
    fn paths_near_the_project_are_relative_and_round_trip() {
        let (root, folder) = tree();
        let at = |name: &str| root.path().join(name).display().to_string();
        let cases = [
            (at("work/project/a.obj"), "a.obj".into()),
            (
                format!("{}#jaw@3", at("work/project/a.obj")),
                "a.obj#jaw@3".into(),
            ),
            (at("work/project/sub/c.obj"), "sub/c.obj".into()),
            (
                format!(
                    "{}+{}",
                    at("work/project/sub/c.obj"),
                    at("work/project/sub/d.npy")
                ),
                "sub/c.obj+sub/d.npy".into(),
            ),
            (
                format!(
                    "{}+{}@0",
                    at("work/project/sub/c.obj"),
                    at("work/project/b.npy")
                ),
                "sub/c.obj+./b.npy@0".into(),
            ),
            (
                format!("{}+{}", at("work/project/a.obj"), at("work/project/b.npy")),
                "a.obj+b.npy".into(),
            ),
            (
                format!("{}#walk", at("work/beside/e.glb")),
                "../beside/e.glb#walk".into(),
            ),
            (at("far/f.glb"), at("far/f.glb")),
            (
                at("work/project/missing.glb#walk@2"),
                "missing.glb#walk@2".into(),
            ),
            (
                "specimen:hound#walk@3".into(),
                "specimen:hound#walk@3".into(),
            ),
            (String::new(), String::new()),
        ];

        for (inside, written) in cases {
            assert_eq!(portable(&inside, &folder), written);
            assert_eq!(resolved(&written, &folder), inside);
        }
    }

    #[test]
    fn a_moved_project_tree_still_finds_its_files() {
        let (root, folder) = tree();
        let inside = root.path().join("work/beside/e.glb").display().to_string();
        let written = portable(&inside, &folder);
        std::fs::rename(root.path().join("work"), root.path().join("moved")).unwrap();
        let found = resolved(&written, &root.path().join("moved/project"));
        assert!(Path::new(&found).exists(), "{found}");
    }
}
