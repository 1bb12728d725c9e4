//! A take of 3,800 frames on each head: the time of every step.

use pliant_io::performance::live::{LIVE_LINK_CHANNELS, LiveStream, Received, encode_live_link};
use pliant_io::performance::{PerformanceOptions, read_csv, write_csv};
use pliant_rig::{
    BoundMap, Channel, ChannelMap, CleanOptions, KeyedCurves, Performance, SideUse, Vocabulary,
    clean,
};
use web_time::Instant;

use super::numerals::{greatest, grouped, median};
use super::planted::planted;
use super::{Model, ReproduceError, failed};
use crate::page::{Section, Table};
use crate::reproduce::milliseconds;

const FRAMES: usize = 3800;
const SEED: u64 = 401;

pub(super) fn section(heads: &[Model]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "A long take",
        "A take of 3,800 frames with the 52 shapes of ARKit as a table, from its bytes to few keys on \
         the sliders of a rig. No step computes a vertex. The last columns are a live performance: \
         36,000 packets of Live Link Face, each from its bytes to the weights.",
    );
    let mut table = Table::new(
        "Milliseconds; the last two columns are microseconds.",
        [
            "rig", "vertices", "sliders", "read", "clean", "map", "keys", "all", "packet",
            "slowest",
        ],
    );

    let bytes = write_csv(&take());
    for head in heads {
        let began = Instant::now();
        let take = read_csv(&bytes, &PerformanceOptions::default()).expect("a table of ours");
        let read = milliseconds(began);

        let began = Instant::now();
        let (cleaned, _) = clean(&take, &CleanOptions::all());
        let cleaning = milliseconds(began);

        let began = Instant::now();
        let names: Vec<String> = head.rig.targets().iter().map(|t| t.name.clone()).collect();
        let map = ChannelMap::guess(cleaned.channels(), &names);
        let track = map
            .track(&cleaned, &head.rig, SideUse::Own)
            .map_err(failed(head))?;
        let mapping = milliseconds(began);

        let began = Instant::now();
        let keys = KeyedCurves::from_track(&track, 0.002).map_err(failed(head))?;
        let reducing = milliseconds(began);
        let all = read + cleaning + mapping + reducing;
        let [packet, slowest] = live_micros(head)?;
        table.push([
            head.name.clone(),
            grouped(head.rig.neutral().vertex_count()),
            head.rig.targets().len().to_string(),
            format!("{read:.0}"),
            format!("{cleaning:.0}"),
            format!("{mapping:.0}"),
            format!("{reducing:.0} ({} keys)", grouped(keys.key_count())),
            format!("{all:.0}"),
            format!("{packet:.0}"),
            format!("{slowest:.0}"),
        ]);
    }
    section.table(table);
    Ok(section)
}

/// The median and the longest time from a packet to the weights, over ten minutes at 60 Hz.
fn live_micros(head: &Model) -> Result<[f64; 2], ReproduceError> {
    const PACKETS: i32 = 36_000;
    let channels = LIVE_LINK_CHANNELS.map(|name| Channel::new(name, Vec::new()));
    let names: Vec<String> = head.rig.targets().iter().map(|t| t.name.clone()).collect();
    let map = ChannelMap::guess(&channels, &names);
    let empty = Performance::even("", 60.0, channels.to_vec()).map_err(failed(head))?;
    let bound = BoundMap::new(&map, &empty, &head.rig, SideUse::Own).map_err(failed(head))?;

    let mut stream = LiveStream::new();
    let mut micros = Vec::new();
    for frame in 0..PACKETS {
        let value = 0.5 - 0.5 * (frame as f32 / 10.0).cos();
        let packet = encode_live_link("phone", frame, 60, |_| value);
        let began = Instant::now();
        let received = stream.receive(&packet);
        let values = stream.values();
        let weights = bound.weights(|channel| values[channel]);
        if received == Received::Frame && !weights.is_empty() {
            micros.push(1e3 * milliseconds(began));
        }
    }
    let slowest = greatest(micros.iter().copied());
    Ok([median(micros), slowest])
}

fn take() -> Performance {
    let names = Vocabulary::Arkit.names();
    planted(&names, FRAMES, SEED).recorded(&names, SEED + 1)
}
