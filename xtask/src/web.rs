//! `cargo xtask web`: the studio as a page for any static host, and its tests in a browser.
//!
//! The module is built with threads over shared memory, which the standard library of Rust supports for
//! this target only when it is built from its source: with the component `rust-src` and features of the
//! compiler that are not stable yet. Nothing else in the workspace needs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::process::call;

const TARGET: &str = "wasm32-unknown-unknown";
/// Shared memory, and vectors of 128 bits, which all browsers of the last three years have.
const RUST_FLAGS: &str = "-C target-feature=+atomics,+bulk-memory,+mutable-globals,+simd128";
/// The files that are not made from Rust.
const PAGE: [&str; 5] = [
    "index.html",
    "page.js",
    "storage.js",
    "worker.js",
    "service-worker.js",
];

/// Builds the page into `out` (default: `target/web-page`).
pub(crate) fn run(root: &Path, out: Option<PathBuf>) -> Outcome<PathBuf> {
    let target = target_folder(root);
    let out = out.unwrap_or_else(|| target.join("web-page"));
    require_equal_versions(root)?;
    install_parts(root)?;

    let module = build_module(root, &target.join("web"))?;
    fs::create_dir_all(&out)?;
    call(
        Command::new("cargo")
            .current_dir(root)
            .args(["run", "--quiet", "--locked", "--manifest-path"])
            .arg(root.join("xtask/web/Cargo.toml"))
            .arg("--target-dir")
            .arg(target.join("web-bindings"))
            .arg("--")
            .arg(&module)
            .arg(&out),
    )?;
    copy_page(root, &out)?;
    report_size(&out)?;
    Ok(out)
}

/// Builds the page and tests it in headless Chromium; pictures go to `target/web-pictures`.
pub(crate) fn test(root: &Path) -> Outcome<()> {
    let target = target_folder(root);
    let out = run(root, None)?;

    let expected = target.join("web-expected.json");
    // Of the whole workspace: one package alone has other features, and would build everything again.
    let mut build = Command::new("cargo");
    build
        .current_dir(root)
        .args(["build", "--workspace", "--example", "method_results"]);
    call(&mut build)?;
    let desktop = Command::new(target.join("debug/examples/method_results")).output()?;
    if !desktop.status.success() {
        return Err(String::from_utf8_lossy(&desktop.stderr).into());
    }
    fs::write(&expected, desktop.stdout)?;

    call(
        Command::new("node")
            .env("NODE_PATH", install_driver(root)?)
            .arg(root.join("crates/pliant-web/tests/browser/run.mjs"))
            .arg(&out)
            .arg(&expected)
            .arg(target.join("web-pictures")),
    )
}

/// The driver of the browser, from npm; outside of the clone, so that the next test finds it.
fn install_driver(root: &Path) -> Outcome<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = cache.or_else(home).ok_or("there is no home folder")?;
    let folder = folder.join("pliant-browser");

    fs::create_dir_all(&folder)?;
    let wanted = fs::read(root.join("crates/pliant-web/tests/browser/package.json"))?;
    let manifest = folder.join("package.json");
    let modules = folder.join("node_modules");
    if !modules.is_dir() || fs::read(&manifest).ok().as_ref() != Some(&wanted) {
        fs::write(&manifest, wanted)?;
        let mut npm = Command::new("npm");
        call(
            npm.current_dir(&folder)
                .args(["install", "--no-audit", "--no-fund"]),
        )?;
    }
    Ok(modules)
}

fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// The bindings must be made by the version that the module was built with.
fn require_equal_versions(root: &Path) -> Outcome<()> {
    let version = |lock: &str, name: &str| -> Outcome<String> {
        let text = fs::read_to_string(root.join(lock))?;
        let entry = format!("name = \"{name}\"\nversion = \"");
        let rest = text.split_once(&entry).map(|(_, rest)| rest);
        let version = rest.and_then(|rest| rest.split('"').next());
        Ok(version.ok_or(format!("{lock} names no {name}"))?.to_owned())
    };
    let module = version("Cargo.lock", "wasm-bindgen")?;
    let bindings = version("xtask/web/Cargo.lock", "wasm-bindgen-cli-support")?;
    if module == bindings {
        Ok(())
    } else {
        Err(format!(
            "wasm-bindgen is {module} in Cargo.lock and {bindings} in xtask/web/Cargo.lock; \
             set the version in xtask/web/Cargo.toml to {module}"
        )
        .into())
    }
}

fn install_parts(root: &Path) -> Outcome<()> {
    let mut rustup = Command::new("rustup");
    rustup.current_dir(root).stderr(std::process::Stdio::null());
    let target = rustup.args(["target", "add", TARGET]).status();
    let mut rustup = Command::new("rustup");
    rustup.current_dir(root).stderr(std::process::Stdio::null());
    let source = rustup.args(["component", "add", "rust-src"]).status();
    match (target, source) {
        (Ok(target), Ok(source)) if target.success() && source.success() => Ok(()),
        _ => Err(format!(
            "the page needs `rustup target add {TARGET}` and `rustup component add rust-src`"
        )
        .into()),
    }
}

fn build_module(root: &Path, target: &Path) -> Outcome<PathBuf> {
    call(
        Command::new("cargo")
            .current_dir(root)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", RUST_FLAGS)
            .args([
                "build",
                "--profile",
                "web",
                "--package",
                "pliant-web",
                "--lib",
            ])
            .args([
                "--target",
                TARGET,
                "-Zbuild-std=std,panic_abort",
                "--target-dir",
            ])
            .arg(target),
    )?;
    Ok(target.join(TARGET).join("web").join("pliant_web.wasm"))
}

/// The files of the page, with the version and the size of this module.
fn copy_page(root: &Path, out: &Path) -> Outcome<()> {
    let module = fs::read(out.join("pliant_web_bg.wasm"))?;
    let script = fs::read(out.join("pliant_web.js"))?;
    let mut hash = fingerprint(&module, 0);
    hash = fingerprint(&script, hash);
    let texts: Vec<String> = PAGE
        .iter()
        .map(|name| fs::read_to_string(root.join("crates/pliant-web/page").join(name)))
        .collect::<Result<_, _>>()?;
    for text in &texts {
        hash = fingerprint(text.as_bytes(), hash);
    }

    for (name, text) in PAGE.iter().zip(texts) {
        let text = text
            .replace("/*version*/", &format!("pliant {hash:016x}"))
            .replace("/*bytes*/", &module.len().to_string());
        fs::write(out.join(name), text)?;
    }
    Ok(())
}

/// FNV-1a.
fn fingerprint(bytes: &[u8], before: u64) -> u64 {
    let start = before ^ 0xcbf2_9ce4_8422_2325;
    bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Sizes as they are, and as a host sends them.
fn report_size(out: &Path) -> Outcome<()> {
    let mut total = [0, 0];
    for entry in fs::read_dir(out)? {
        let path = entry?.path();
        let packed = Command::new("gzip")
            .args(["-9", "-c"])
            .arg(&path)
            .output()?;
        total[0] += fs::metadata(&path)?.len();
        total[1] += packed.stdout.len() as u64;
    }
    let [plain, packed] = total.map(|bytes| bytes as f64 / 1e6);
    println!(
        "{}: {plain:.1} MB, {packed:.2} MB compressed (gzip)",
        out.display()
    );
    Ok(())
}
