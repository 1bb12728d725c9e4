//! Files in memory, the browser's own storage, and files of the computer.

use std::path::{Path, PathBuf};

use pliant::io::MemoryDisk;
use pliant_studio::engine::work::host::files_arrived;
use wasm_bindgen::prelude::wasm_bindgen;

/// The folder of the person.
pub(crate) const FILES: &str = "/files";

#[wasm_bindgen(js_namespace = pliant)]
extern "C" {
    /// Keeps a file in the storage of the browser.
    #[wasm_bindgen(js_name = keepFile)]
    fn keep_file(path: &str, bytes: &[u8]);
    /// Removes a file from it.
    #[wasm_bindgen(js_name = dropFile)]
    fn drop_file(path: &str);
    /// Saves a file on the computer.
    fn download(name: &str, bytes: &[u8]);
    /// Lets the person choose files.
    #[wasm_bindgen(js_name = askFiles)]
    fn ask_files_of_person(endings: &str);
}

/// Puts a file of the browser's storage back on the disk.
#[wasm_bindgen(js_name = restoreFile)]
pub fn restore_file(path: &str, bytes: &[u8]) {
    let disk = MemoryDisk::of_program();
    // A path that is not there as it was stored cannot be a project either.
    let _ = disk.write(Path::new(path), bytes);
    let _ = disk.take_changes();
}

/// Puts a file that the person chose on the disk; returns its path.
#[wasm_bindgen(js_name = putFile)]
pub fn put_file(name: &str, bytes: &[u8]) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let path = Path::new(FILES).join(name);
    let _ = MemoryDisk::of_program().write(&path, bytes);
    keep_file(&path.to_string_lossy(), bytes);
    // Not an export: it is not handed over.
    let _ = MemoryDisk::of_program().take_changes();
    path.to_string_lossy().into_owned()
}

/// The files that the person chose are all on the disk.
#[wasm_bindgen(js_name = filesArrived)]
pub fn all_arrived(paths: Vec<String>) {
    files_arrived(paths.into_iter().map(PathBuf::from).collect());
    crate::page::repaint();
}

/// Asks the person for files.
pub(crate) fn ask_files(endings: &[String]) {
    let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    ask_files_of_person(&endings.join(","));
}

/// Hands a file over as a download.
pub(crate) fn give_file(path: PathBuf) {
    if let Ok(file) = MemoryDisk::of_program().file(&path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        download(&name, &file.bytes);
    }
}

/// Copies what changed to the browser's storage, and hands exports over.
pub(crate) fn keep_changes() {
    let disk = MemoryDisk::of_program();
    for path in disk.take_changes() {
        // Locks end with the page.
        if path.extension().is_some_and(|ending| ending == "lock") {
            continue;
        }
        let name = path.to_string_lossy().into_owned();
        match disk.file(&path) {
            Ok(file) => {
                keep_file(&name, &file.bytes);
                if is_export(&path) {
                    give_file(path);
                }
            }
            Err(_) => drop_file(&name),
        }
    }
}

/// Files of the person other than projects and their results, which stay in the browser.
fn is_export(path: &Path) -> bool {
    let is_project = |part: &std::ffi::OsStr| {
        let name = part.to_string_lossy();
        name.ends_with(".pliant") || name.ends_with(".pliant-data")
    };
    path.starts_with(FILES) && !path.iter().any(is_project)
}
