//! Animated pictures: a turntable of the posed character, and takes.
//!
//! Pictures are those of `pliant render`, as animated PNG, which browsers and players show without
//! loss.

use std::path::Path;
use std::sync::Arc;

use pliant::mesh::Mesh;
use pliant::mesh::glam::DVec3;
use pliant::pictures::{Look, Shot};
use pliant::view::{Image, View, to_apng};

use super::{Exportable, NewFile, take_asset};
use crate::engine::character::PosedCharacter;
use crate::engine::file_request::FileKind;
use crate::engine::library::LoadedAsset;
use crate::model::names::to_message;
use crate::model::timeline::Take;

/// Chosen: four seconds around at 12 frames a second.
const TURNS: usize = 48;
const TURN_MILLIS: u16 = 83;
/// Chosen: sharp in a message or a page, and rendered in seconds.
const SIDE: usize = 512;
/// Chosen: longer takes show every second, third … frame, so that memory stays below 250 MB.
const MOST_FRAMES: usize = 300;
/// Slightly from the side and from above.
const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.15,
};

/// The posed character from all sides.
pub(super) fn turntable(loaded: &Arc<LoadedAsset>, posed: &Arc<PosedCharacter>) -> Exportable {
    let loaded = loaded.clone();
    let posed = posed.clone();
    Exportable::files("Turntable", animated_png(), move |path| {
        let rest = posed.rig.neutral();
        let mesh = rest.posed(posed.positions.to_vec()).map_err(to_message)?;
        let frames = shot()
            .turntable(&mesh, &look(&loaded, rest), TURNS)
            .map_err(to_message)?;
        file(path, &frames, TURN_MILLIS)
    })
}

/// A take, played once around.
pub(super) fn film(take: &Take, folder: &Path) -> Exportable {
    let take = take.clone();
    let folder = folder.to_owned();
    let name = format!("Pictures of take {}", take.name);
    Exportable::files(name, animated_png(), move |path| {
        let asset = take_asset(&take, &folder)?;
        let rest = asset.mesh().map_err(to_message)?;
        let (materials, _) = pliant::pictures::materials(&asset, &rest);
        let look = Look::default().with_materials(materials);
        let clip = asset.clip().map_err(to_message)?;

        let step = clip.frames().len().div_ceil(MOST_FRAMES).max(1);
        let shown = clip.frames().iter().step_by(step);
        let pictures: Result<Vec<Image>, String> =
            shown.map(|frame| picture(frame, &rest, &look)).collect();
        let millis = 1000.0 * step as f64 / take.frames_per_second.max(1.0);
        file(path, &pictures?, millis.round().clamp(1.0, 60_000.0) as u16)
    })
}

fn picture(positions: &[DVec3], rest: &Mesh, look: &Look) -> Result<Image, String> {
    let pose = rest.posed(positions.to_vec()).map_err(to_message)?;
    shot().of_pose(&pose, rest, look).map_err(to_message)
}

fn look(loaded: &LoadedAsset, mesh: &Mesh) -> Look {
    let (materials, _) = pliant::pictures::materials(&loaded.asset, mesh);
    Look::default().with_materials(materials)
}

fn shot() -> Shot {
    Shot::new(VIEW, [SIDE; 2])
}

fn animated_png() -> FileKind {
    FileKind::new("Animated PNG", vec!["png".into()])
}

fn file(path: &Path, frames: &[Image], millis: u16) -> Result<Vec<NewFile>, String> {
    let bytes = to_apng(frames, millis).map_err(to_message)?;
    Ok(vec![(path.to_owned(), bytes)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::export::ExportContent;
    use crate::model::timeline::TakeFrames;

    fn bytes(exportable: &Exportable) -> Vec<u8> {
        let ExportContent::Files(_, make) = &exportable.make else {
            panic!("pictures are files");
        };
        let mut made = make(Path::new("film.png")).unwrap();
        assert_eq!(made.len(), 1);
        made.remove(0).1
    }

    /// The number of frames that an animated PNG declares.
    fn frames(png: &[u8]) -> u32 {
        let at = png.windows(4).position(|chunk| chunk == b"acTL").unwrap();
        u32::from_be_bytes(png[at + 4..at + 8].try_into().unwrap())
    }

    #[test]
    fn a_take_has_a_picture_for_each_frame() {
        let hound = pliant::load("specimen:hound#walk").unwrap();
        let take = Take {
            frames_per_second: 24.0,
            frame_count: 3,
            ..Take::made(
                "walk",
                "specimen:hound",
                &hound.clip().unwrap().frames()[..3],
                24.0,
            )
        };
        assert!(matches!(take.frames, TakeFrames::Made(_)));
        assert_eq!(frames(&bytes(&film(&take, Path::new(".")))), 3);
    }
}
