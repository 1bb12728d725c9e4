//! The rigs of the data folder that drags are measured on.

use std::path::{Path, PathBuf};

use pliant_io::LoadOptions;
use pliant_rig::Rig;

/// Name, locator below the data folder, and number of vertices of the skin; 0 for all.
const DATA_RIGS: [(&str, &str, usize); 4] = [
    (
        "ict",
        "ict-facekit/generic_neutral_mesh.obj+ict-facekit/expressions.delta.npy",
        9409,
    ),
    ("facecap", "facecap-head/facecap-plain.glb", 0),
    (
        "makehuman",
        "makehuman-face/base.obj+makehuman-face/expression-units-caucasian",
        13_380,
    ),
    ("candide3", "candide3/candide3.wfm", 0),
];

/// The rigs below `PLIANT_DATA`: name, rig, and number of vertices of the skin, 0 for all.
pub(crate) fn data_rigs() -> impl Iterator<Item = (&'static str, Rig, usize)> {
    let folder = std::env::var_os("PLIANT_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("PLIANT_DATA is not set; only built-in rigs are measured");
    }

    let places = DATA_RIGS.iter().filter(move |_| folder.is_some());
    let folder = std::env::var_os("PLIANT_DATA").map_or_else(PathBuf::new, PathBuf::from);
    places.filter_map(move |&(name, place, skin)| match load(&folder, place) {
        Ok(rig) => Some((name, rig, skin)),
        Err(error) => {
            println!("{name}: {error}");
            None
        }
    })
}

/// The rig of a file, or of a neutral and its targets.
fn load(folder: &Path, place: &str) -> Result<Rig, String> {
    let places: Vec<String> = place
        .split('+')
        .map(|part| folder.join(part).display().to_string())
        .collect();
    let asset = pliant_io::load(&places.join("+"), &LoadOptions::default());
    let rig = asset.and_then(|asset| asset.rig());
    rig.map_err(|error| error.to_string())
}
