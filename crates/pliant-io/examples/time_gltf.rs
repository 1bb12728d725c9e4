//! Times reading and writing of a GLB: `cargo run --release -p pliant-io --example time_gltf FILE.glb OUT.glb [REPEATS]`.
//!
//! Prints the most memory that the process used after each step, and the median times of reading and of a
//! save that changes one target. `benches/peers/character_peers.py` compares them with other programs.

#![allow(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;
use std::time::Instant;

use pliant_io::{Asset, LoadOptions, NoFiles, gltf, load};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, out, rest @ ..] = &arguments[..] else {
        return Err("name a GLB and the file to write".into());
    };
    let repeats = rest.first().map_or(Ok(5), |text| text.parse())?;
    let bytes = std::fs::metadata(path)?.len();
    println!("file {:.1} MB", bytes as f64 / 1e6);

    let asset = load(path, &LoadOptions::default())?;
    println!("memory after reading {}", peak_memory());
    std::fs::write(out, gltf::write(&posed(&asset)).bytes)?;
    println!("memory after writing it posed {}", peak_memory());
    let edited = with_moved_target(&asset)?;
    std::fs::write(out, gltf::write(&edited).bytes)?;
    println!("memory after writing new targets {}", peak_memory());

    let file = std::fs::read(path)?;
    report("read", repeats, || gltf::read(&file, &NoFiles).map(drop))?;
    report("write the file with one changed target", repeats, || {
        std::fs::write(out, gltf::write(&edited).bytes)
    })?;
    Ok(())
}

/// The asset at other weights.
fn posed(asset: &Asset) -> Asset {
    let mut posed = asset.clone();
    for object in &mut posed.objects {
        object.rest_weights = vec![0.5; object.rig.targets().len()];
    }
    posed
}

/// The asset with its first target doubled.
fn with_moved_target(asset: &Asset) -> Result<Asset, Box<dyn Error>> {
    let mut edited = asset.clone();
    for object in &mut edited.objects {
        let mut targets = object.rig.targets().to_vec();
        for delta in targets.iter_mut().take(1).flat_map(|t| &mut t.deltas) {
            *delta *= 2.0;
        }
        object.rig = object.rig.with_targets(targets)?;
    }
    Ok(edited)
}

/// Prints the median wall time of some work.
fn report<E: Error + 'static>(
    what: &str,
    repeats: usize,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
    println!("{what}: {median:.1} ms (median of {repeats})");
    Ok(())
}

/// The most memory that the process used, as Linux reports it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or("unknown".into(), |k| format!("{:.1} MB", k / 1e3))
}
