//! Captures that planted poses are taken from, and their weights on a rig.

use std::path::PathBuf;

use pliant_io::{LoadOptions, PerformanceOptions, read_performance};
use pliant_rig::{Channel, ChannelMap, Performance, Rig, SideUse, Target, WeightTrack};
use pliant_specimens::Specimen;

/// The captures by name: the performance of the built-in head, and those of the data folder.
pub(crate) fn captures(head: &Specimen) -> Vec<(&'static str, Performance)> {
    let mut captures = vec![("built-in", built_in(head))];
    captures.extend(of_data());
    captures
}

/// The performance of the built-in head, as a capture.
fn built_in(head: &Specimen) -> Performance {
    let played = &head.performances[0];
    let keys = played.track.keys();
    let channel = |(k, target): (usize, &Target)| {
        Channel::new(&*target.name, keys.iter().map(|key| key[k]).collect())
    };
    let channels = head.rig.targets().iter().enumerate().map(channel);
    Performance::even("built-in", played.frames_per_second, channels.collect())
        .expect("the keys are at equal distances")
}

/// The captures of the data folder.
fn of_data() -> Vec<(&'static str, Performance)> {
    let Some(folder) = std::env::var_os("PLIANT_DATA").map(PathBuf::from) else {
        return Vec::new();
    };
    let places = [
        ("rom", "mocap/livelinkface-alex_rom_3.csv"),
        (
            "facecap",
            "facecap-head/facecap-plain.glb#Key|Take 001|BaseLayer",
        ),
    ];
    let read = |place: &str| {
        let locator = folder.join(place).display().to_string();
        let options = PerformanceOptions::default();
        read_performance(&locator, &options, &LoadOptions::default()).expect("a capture")
    };
    places.map(|(name, place)| (name, read(place))).to_vec()
}

/// The weights of a capture on `rig`, by the names of its sliders and inside their limits.
pub(crate) fn track(capture: &Performance, rig: &Rig) -> WeightTrack {
    let names: Vec<String> = rig.targets().iter().map(|t| t.name.clone()).collect();
    let map = ChannelMap::guess(capture.channels(), &names);
    let track = map.track(capture, rig, SideUse::Own);
    let sliders = rig.sliders();
    track.expect("the map is of this capture").mapped(|key| {
        let clamped = key.iter().zip(sliders).map(|(w, s)| s.limits.clamp(*w));
        clamped.collect()
    })
}
