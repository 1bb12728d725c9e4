//! Files beside a file: materials, images and buffers that it refers to by name.
//!
//! **Problem.** A save may write `head.obj`, `head.mtl` and `skin.png`. Another file of such a name, with
//! other content, may lie in the folder and belong to something else.
//!
//! **Method.** A file that is there with the same bytes is not written again. One with other bytes is
//! replaced if the saved file is there, too, and refers to it: it is that of the last save. Any other one is
//! kept, and ours gets the name of the saved file in front (`head_skin.png`), or a number where that is taken.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::files::{exists, percent_decoded, read_regular_file};
use crate::{EncodedAsset, Format};

/// Renames files that would replace others, and leaves out those that are there already.
pub(super) fn avoid_other_files(encoded: &mut EncodedAsset, path: &Path) {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for k in 0..encoded.sidecar_files.len() {
        let (name, bytes) = &encoded.sidecar_files[k];
        if !is_other_file(&beside(path, name), bytes) {
            continue;
        }
        let last_save = LastSave::of(path, encoded);
        if last_save.refers_to(name) {
            continue;
        }

        let name = name.clone();
        let own = name.rsplit('/').next().unwrap_or_default();
        let folder = &name[..name.len() - own.len()];
        let is_free = |candidate: &String| {
            let mut others = encoded.sidecar_files.iter();
            let is_listed = others.any(|(other, _)| other == candidate);
            let is_other = is_other_file(&beside(path, candidate), bytes);
            !is_listed && (!is_other || last_save.refers_to(candidate))
        };
        let Some(free) = other_names(folder, own, &stem).find(is_free) else {
            continue;
        };
        encoded.sidecar_files[k].0.clone_from(&free);
        refer_to(encoded, path, &name, &free);
    }
    encoded
        .sidecar_files
        .retain(|(name, bytes)| !is_same_file(&beside(path, name), bytes));
}

/// Other names for the file `own` in a folder beside the file `stem`.
fn other_names(folder: &str, own: &str, stem: &str) -> impl Iterator<Item = String> {
    let longer = (!own.starts_with(stem)).then(|| format!("{folder}{stem}_{own}"));
    let (name, ending) = own.rsplit_once('.').unwrap_or((own, ""));
    let numbered = (1..).map(move |k| format!("{folder}{name}_{k}.{ending}"));
    longer.into_iter().chain(numbered)
}

/// The files of the last save under the same name that refer to others; empty without one.
struct LastSave {
    texts: Vec<Vec<u8>>,
}

impl LastSave {
    fn of(path: &Path, encoded: &EncodedAsset) -> Self {
        let mut last = Self { texts: Vec::new() };
        last.texts.extend(read_regular_file(path));
        for (name, _) in &encoded.sidecar_files {
            if name.ends_with(".mtl") && last.refers_to(name) {
                last.texts.extend(read_regular_file(&beside(path, name)));
            }
        }
        last
    }

    fn refers_to(&self, name: &str) -> bool {
        let encoded = name.replace('%', "%25").replace(' ', "%20");
        let contains = |text: &[u8], name: &[u8]| {
            // What is before a name never belongs to it.
            let ends = |at: usize| {
                matches!(
                    at.checked_sub(1).map(|at| text[at]),
                    Some(b' ' | b'"' | b'/' | b'@')
                )
            };
            let mut places = text.windows(name.len().max(1)).enumerate();
            places.any(|(at, part)| part == name && ends(at))
        };
        let names = [name.as_bytes(), encoded.as_bytes()];
        self.texts
            .iter()
            .any(|text| names.iter().any(|name| contains(text, name)))
    }
}

fn beside(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(name)
}

fn is_same_file(path: &Path, bytes: &[u8]) -> bool {
    exists(path) && read_regular_file(path).is_ok_and(|found| found == bytes)
}

fn is_other_file(path: &Path, bytes: &[u8]) -> bool {
    exists(path) && !is_same_file(path, bytes)
}

/// Replaces a name where the saved file, or a file beside it, refers to it.
fn refer_to(encoded: &mut EncodedAsset, path: &Path, old: &str, new: &str) {
    match Format::of(path) {
        Some(Format::Gltf) => refer_in_gltf(&mut encoded.bytes, old, new),
        Some(Format::Obj) => {
            replace_at_line_ends(&mut encoded.bytes, old, new);
            let libraries = encoded.sidecar_files.iter_mut();
            for (_, bytes) in libraries.filter(|(name, _)| name.ends_with(".mtl")) {
                replace_at_line_ends(bytes, old, new);
            }
        }
        _ => {
            let text = String::from_utf8_lossy(&encoded.bytes);
            let text = text.replace(&format!("@./{old}@"), &format!("@./{new}@"));
            encoded.bytes = text.into_bytes();
        }
    }
}

fn refer_in_gltf(bytes: &mut Vec<u8>, old: &str, new: &str) {
    let Ok(mut document) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    for key in ["buffers", "images"] {
        let list = document.get_mut(key).and_then(Value::as_array_mut);
        for entry in list.into_iter().flatten() {
            let uri = entry.get("uri").and_then(Value::as_str);
            if uri.and_then(percent_decoded).as_deref() == Some(old) {
                entry["uri"] = json!(new.replace('%', "%25").replace(' ', "%20"));
            }
        }
    }
    if let Ok(text) = serde_json::to_vec(&document) {
        *bytes = text;
    }
}

/// Replaces a name after a space at the end of a line.
fn replace_at_line_ends(bytes: &mut Vec<u8>, old: &str, new: &str) {
    let mut replaced = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let head = content.strip_suffix(old.as_bytes());
        match head.filter(|head| head.ends_with(b" ")) {
            Some(head) => {
                replaced.extend_from_slice(head);
                replaced.extend_from_slice(new.as_bytes());
                replaced.extend_from_slice(&line[content.len()..]);
            }
            None => replaced.extend_from_slice(line),
        }
    }
    *bytes = replaced;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_asset_is_kept_and_ours_gets_another_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("skin.png"), "another").unwrap();
        std::fs::write(folder.path().join("eye.png"), "eye").unwrap();
        let mut encoded = EncodedAsset {
            bytes: b"mtllib head.mtl\nv 0 0 0\n".to_vec(),
            sidecar_files: vec![
                (
                    "head.mtl".into(),
                    b"map_Kd skin.png\nmap_Ke eye.png\n".to_vec(),
                ),
                ("skin.png".into(), b"ours".to_vec()),
                ("eye.png".into(), b"eye".to_vec()),
            ],
            ..EncodedAsset::default()
        };

        avoid_other_files(&mut encoded, &folder.path().join("head.obj"));
        let names: Vec<_> = encoded
            .sidecar_files
            .iter()
            .map(|(n, _)| n.as_str())
            .collect();
        assert_eq!(names, ["head.mtl", "head_skin.png"]);
        let library = String::from_utf8_lossy(&encoded.sidecar_files[0].1).into_owned();
        assert_eq!(library, "map_Kd head_skin.png\nmap_Ke eye.png\n");
    }

    #[test]
    fn a_library_of_another_file_is_kept_and_that_of_the_last_save_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head.obj");
        std::fs::write(folder.path().join("head.mtl"), "another").unwrap();
        let save = |library: &[u8]| {
            let mut encoded = EncodedAsset {
                bytes: b"mtllib head.mtl\nv 0 0 0\n".to_vec(),
                sidecar_files: vec![("head.mtl".into(), library.to_vec())],
                ..EncodedAsset::default()
            };
            avoid_other_files(&mut encoded, &path);
            std::fs::write(&path, &encoded.bytes).unwrap();
            for (name, bytes) in &encoded.sidecar_files {
                std::fs::write(folder.path().join(name), bytes).unwrap();
            }
            encoded
        };

        // The second save replaces the library of the first, not that of another file.
        for library in [&b"newmtl skin\n"[..], b"newmtl lip\n"] {
            let saved = save(library);
            assert_eq!(saved.sidecar_files[0].0, "head_1.mtl");
            assert!(saved.bytes.starts_with(b"mtllib head_1.mtl\n"));
        }
        let kept = std::fs::read(folder.path().join("head.mtl")).unwrap();
        assert_eq!(kept, b"another");
    }
}
