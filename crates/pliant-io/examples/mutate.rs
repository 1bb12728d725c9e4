//! Fuzzing: damages files at random and reads them.
//!
//! ```text
//! mutate ENDING COUNT SEED FILE…
//! ```
//!
//! reads COUNT damaged copies of the files as the format of ENDING, from the random SEED on, and
//! prints how many were rejected. ENDING is that of an asset, `csv` or `json` for performances, or
//! `packet` for files that hold one packet of a live performance each. Also printed are how many a
//! second were read, and the slowest of all. A panic
//! names the copy's number, so that the same SEED finds it again. Run it with little memory
//! (`ulimit -v`) to see that no copy asks for much.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use pliant_io::performance::live::{LiveStream, Received};
use pliant_io::performance::{PerformanceOptions, read_csv, read_json};
use pliant_io::{Format, NoFiles};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

const WORDS: [&[u8]; 16] = [
    b"0",
    b"-1",
    b"1e309",
    b"nan",
    b"4294967295",
    b"99999999999999999999",
    b"(",
    b")",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b" ",
    b"\n",
    b"1e-320",
];
const NUMBERS: [u32; 8] = [
    0,
    1,
    u32::MAX,
    0x7fff_ffff,
    0x8000_0000,
    0x7f80_0000,
    0xffff,
    0x0100_0000,
];

/// A copy with one to eight changes, mostly few: a copy that is hardly damaged gets far.
fn damaged(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    let most = 1 << random.below(4);
    for _ in 0..=random.below(most) {
        change(&mut bytes, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    let to = random.below(bytes.len());
    if bytes.is_empty() {
        return bytes.push(random.next() as u8);
    }

    match random.below(9) {
        0 => bytes[at] = random.next() as u8,
        1 => bytes[at] ^= 1 << random.below(8),
        2 => drop(bytes.drain(at..(at + 1 + random.below(8)).min(bytes.len()))),
        3 => bytes.insert(at, random.next() as u8),
        4 => {
            let number = NUMBERS[random.below(NUMBERS.len())];
            let number = if random.below(2) == 0 {
                number.to_le_bytes()
            } else {
                number.to_be_bytes()
            };
            let end = (at + 4).min(bytes.len());
            bytes[at..end].copy_from_slice(&number[..end - at]);
        }
        5 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
        6 => {
            let end = (at + random.below(64)).min(bytes.len());
            let part = bytes[at..end].to_vec();
            drop(bytes.splice(to..to, part));
        }
        7 if random.below(8) == 0 => bytes.truncate(at),
        _ => bytes.swap(at, to),
    }
}

/// What the damaged bytes are read as.
#[derive(Clone, Copy)]
enum Reader {
    Asset(Format),
    Table,
    Json,
    Packet,
}

impl Reader {
    fn of(ending: &str) -> Option<Self> {
        match ending {
            "csv" => Some(Self::Table),
            "json" => Some(Self::Json),
            "packet" => Some(Self::Packet),
            _ => Format::of(Path::new(&format!("x.{ending}")))
                .filter(|format| format.can_read())
                .map(Self::Asset),
        }
    }

    /// Reads the bytes; returns whether they were rejected.
    fn rejects(self, bytes: &[u8]) -> bool {
        let options = PerformanceOptions::default();
        match self {
            Self::Asset(format) => is_rejected(format, bytes),
            Self::Table => read_csv(bytes, &options).is_err(),
            Self::Json => read_json(bytes, &options).is_err(),
            Self::Packet => {
                let mut stream = LiveStream::new();
                let received = stream.receive(bytes);
                assert_eq!(stream.names().len(), stream.values().len());
                received != Received::Frame
            }
        }
    }
}

/// Reads and uses the asset; returns whether it was rejected.
fn is_rejected(format: Format, bytes: &[u8]) -> bool {
    let Ok(asset) = format.read(bytes, &NoFiles) else {
        return true;
    };

    let _ = asset.rig();
    for clip in asset.clips.iter().filter(|clip| clip.frame_count > 0) {
        for (k, object) in asset.objects.iter().enumerate() {
            assert_eq!(
                clip.positions(k, object, clip.frame_count - 1).len(),
                object.vertex_count()
            );
        }
    }

    false
}

fn run(ending: &str, count: u64, seed: u64, files: &[String]) -> Option<()> {
    let reader = Reader::of(ending)?;
    let seeds: Vec<Vec<u8>> = files
        .iter()
        .map(std::fs::read)
        .collect::<Result<_, _>>()
        .ok()
        .filter(|s: &Vec<_>| !s.is_empty())?;

    let (mut rejected, mut slowest, started) = (0_u64, (Duration::ZERO, 0), Instant::now());
    for k in 0..count {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0000).wrapping_add(k));
        let bytes = damaged(&seeds[random.below(seeds.len())], &mut random);
        let begun = Instant::now();
        let result = std::panic::catch_unwind(|| reader.rejects(&bytes));

        slowest = slowest.max((begun.elapsed(), k));
        match result {
            Ok(yes) => rejected += u64::from(yes),
            Err(_) => eprintln!("PANIC at copy {k} of seed {seed}"),
        }
    }

    let rate = count as f64 / started.elapsed().as_secs_f64();
    println!(
        "{ending}: {count} read, {rejected} rejected, {rate:.0} a second, slowest {:.1} ms (copy {})",
        slowest.0.as_secs_f64() * 1e3,
        slowest.1
    );

    Some(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [ending, count, seed, files @ ..] => count
            .parse()
            .ok()
            .zip(seed.parse().ok())
            .and_then(|(count, seed)| run(ending, count, seed, files)),
        _ => None,
    };

    if done.is_none() {
        eprintln!(
            "usage: mutate ENDING COUNT SEED FILE… (a readable format, two numbers, files that exist)"
        );
        return ExitCode::from(2);
    }

    ExitCode::SUCCESS
}
