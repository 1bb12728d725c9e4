//! Skinning decompositions of the shared clips, 4 influences: wall time, number of bones, and RMS
//! over the diagonal.
//!
//! `cargo bench -p pliant-learn --bench bones -- [COUNT] [NAME…]`, with `PLIANT_DATA` set; the peer
//! that takes the same arguments is `benches/peers/bones_peers.py`. Cheburashka has 11 known
//! bones; it is also decomposed into COUNT.

#![allow(clippy::print_stdout, reason = "a bench reports to its reader")]

use std::path::Path;
use std::time::Instant;

use pliant_io::{LoadOptions, load};
use pliant_learn::{SkinOptions, SkinningDecomposition};
use pliant_rig::Clip;

const CLIPS: [(&str, &str); 9] = [
    ("horse-poses", "horse-camel/horse-poses"),
    ("camel-poses", "horse-camel/camel-poses"),
    ("face-poses", "face-poses/face-poses"),
    ("samba", "samba/samba-every7th"),
    ("elastic-cow", "elastic-cow/elastic-cow-every4th"),
    ("gallop", "horse-sequences/horse-gallop-every2nd"),
    ("collapse", "horse-sequences/horse-collapse-every2nd"),
    ("hand", "hands/derived-hand-poses"),
    ("cheburashka", "cheburashka/cheburashka"),
];

fn main() {
    let Some(data) = std::env::var_os("PLIANT_DATA") else {
        println!("skipped: PLIANT_DATA is not set");
        return;
    };

    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .peekable();
    let count = arguments
        .next_if(|argument| argument.parse::<usize>().is_ok())
        .map_or(20, |count| count.parse().expect("a number"));

    let names: Vec<String> = arguments.collect();
    for (name, stem) in CLIPS
        .iter()
        .filter(|(name, _)| names.is_empty() || names.iter().any(|wanted| wanted == name))
    {
        let clip = clip(Path::new(&data), stem);
        let began = Instant::now();
        let made = SkinningDecomposition::of(&clip, &SkinOptions::default().with_bones(count))
            .expect("a clip with bones");
        let ms = began.elapsed().as_secs_f64() * 1e3;
        let rms = made.rms / clip.reference().bounds().expect("vertices").diagonal();

        println!(
            "{name:<14} {ms:9.1} ms   {} bones   rms / diagonal {rms:.5}   {} rounds",
            made.bone_count(),
            made.rounds
        );
    }
}

fn clip(data: &Path, stem: &str) -> Clip {
    let open = |path: String| load(&path, &LoadOptions::default()).expect("a shared clip");
    let at = |end: &str| data.join(format!("{stem}{end}")).display().to_string();
    if !stem.starts_with("cheburashka") {
        return open(format!("{}+{}", at(".reference.obj"), at(".frames.npy")))
            .clip()
            .expect("one clip");
    }

    let mesh = |path: String| open(path).mesh().expect("one mesh");
    let frames = (1..=11)
        .map(|k| mesh(at(&format!("-{k:02}.obj"))).positions().to_vec())
        .collect();

    Clip::new("cheburashka", mesh(at(".obj")), frames).expect("poses of one mesh")
}
