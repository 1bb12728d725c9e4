//! The nodes around the objects: header, units and axes, document, takes.

use super::animation::ticks;
use super::node::{CREATION_TIME, FILE_ID, Node, properties, property};
use crate::{Asset, UpAxis};

/// The numbers of rates in `TimeMode`; all others are stored as a custom rate.
const TIME_MODES: [(f64, i32); 8] = [
    (120.0, 1),
    (100.0, 2),
    (60.0, 3),
    (50.0, 4),
    (48.0, 5),
    (30.0, 6),
    (25.0, 10),
    (24.0, 11),
];
const CUSTOM_RATE: i32 = 14;

/// The nodes before the objects.
pub(super) fn header(asset: &Asset) -> Vec<Node> {
    let creator = concat!("Pliant ", env!("CARGO_PKG_VERSION"));
    let extension = Node::new("FBXHeaderExtension")
        .child(Node::of("FBXHeaderVersion", 1003))
        .child(Node::of("FBXVersion", 7400))
        .child(Node::of("EncryptionType", 0))
        .child(Node::of("Creator", creator));

    let document = Node::of("Document", 999_999_i64)
        .value("Scene")
        .value("Scene")
        .child(Node::of("RootNode", 0_i64));
    vec![
        extension,
        Node::of("FileId", FILE_ID.to_vec()),
        Node::of("CreationTime", CREATION_TIME),
        Node::of("Creator", creator),
        global_settings(asset),
        Node::new("Documents")
            .child(Node::of("Count", 1))
            .child(document),
        Node::new("References"),
    ]
}

/// The rate of the file: that of its first clip.
pub(super) fn frames_per_second(asset: &Asset) -> f64 {
    asset
        .clips
        .first()
        .map_or(24.0, |clip| clip.frames_per_second)
}

fn global_settings(asset: &Asset) -> Node {
    let int = |name: &str, value: i32| property(name, "int", "Integer", "").value(value);
    let double = |name: &str, value: f64| property(name, "double", "Number", "").value(value);
    let time = |name: &str, secs: f64| property(name, "KTime", "Time", "").value(ticks(secs));

    // Right-handed axes: right × up = front.
    let [up, front, front_sign, right, right_sign] = match asset.up_axis {
        UpAxis::X => [0, 2, 1, 1, -1],
        UpAxis::Y => [1, 2, 1, 0, 1],
        UpAxis::Z => [2, 1, -1, 0, 1],
    };

    let centimetres = asset.meters_per_unit.unwrap_or(1.0) * 100.0;
    let rate = frames_per_second(asset);
    let mode = TIME_MODES.iter().find(|(known, _)| *known == rate);
    let begin = asset.clips.iter().map(|clip| clip.start_secs);
    let end = asset
        .clips
        .iter()
        .map(|clip| clip.time_secs(clip.frame_count.saturating_sub(1)));

    let list = [
        int("UpAxis", up),
        int("UpAxisSign", 1),
        int("FrontAxis", front),
        int("FrontAxisSign", front_sign),
        int("CoordAxis", right),
        int("CoordAxisSign", right_sign),
        int("OriginalUpAxis", up),
        int("OriginalUpAxisSign", 1),
        double("UnitScaleFactor", centimetres),
        double("OriginalUnitScaleFactor", centimetres),
        property("TimeMode", "enum", "", "").value(mode.map_or(CUSTOM_RATE, |(_, mode)| *mode)),
        double("CustomFrameRate", rate),
        time("TimeSpanStart", begin.fold(0.0, f64::min)),
        time("TimeSpanStop", end.fold(0.0, f64::max)),
    ];
    Node::new("GlobalSettings")
        .child(Node::of("Version", 1000))
        .child(properties(list))
}
