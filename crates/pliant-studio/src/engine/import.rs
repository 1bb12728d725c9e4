//! Import of files: what each file adds to the document.
//!
//! | file | becomes |
//! |---|---|
//! | mesh or rig | the character; its clips become takes, and a rig opens on its sliders |
//! | mesh with the faces of the character | a target of the character |
//! | clip with as many vertices as the character | takes of the character |
//! | library of poses, or weights by name (`.json`) | saved poses |
//! | targets or frames that need a mesh (`.npy`, `.target`) | a pair with the character |

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::io::{self, Animation, Asset, Format, LocatorBase, is_file, is_folder};
use pliant::mesh::Progress;
use pliant::rig::SavedPose;

use super::arrivals::path_text;
use super::capture::{is_performance_file, performance_endings, performance_take};
use super::library::load_asset;
use super::pose::pose_file::read_poses;
use crate::model::document::{AddedTarget, Character, Document, Locator};
use crate::model::names::{free_name, shown, to_message};
use crate::model::project::ENDING;
use crate::model::timeline::{Take, TakeFrames};
use crate::model::touch;

/// What the files of one drop add to the document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Import {
    /// The character from now on.
    pub character: Option<Locator>,
    /// Whether the new character is the old one with more targets, so that its pose stays.
    pub same_mesh: bool,
    /// Whether the new character has sliders, on which it opens; one without plays its clip.
    pub has_sliders: bool,
    /// Targets to add to the character, each with its slider at zero.
    pub targets: Vec<AddedTarget>,
    /// Takes to add.
    pub takes: Vec<Take>,
    /// Poses to save.
    pub poses: Vec<SavedPose>,
    /// Files that were declined, one message each.
    pub declined: Vec<String>,
    /// What the takes do not keep of their files, one sentence each.
    pub losses: Vec<String>,
}

impl Import {
    /// Its name in the Edit menu.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.character, self.targets.len(), self.takes.len()) {
            (None, 0, 0) => "Import poses".into(),
            (Some(_), ..) if self.same_mesh => "Import targets".into(),
            (Some(_), ..) => "Import character".into(),
            (None, 1, 0) => "Import target".into(),
            (None, 1.., _) => "Import targets".into(),
            (None, 0, 1) => "Import take".into(),
            (None, 0, _) => "Import takes".into(),
        }
    }

    /// Whether the character becomes another one.
    #[must_use]
    pub fn brings_character(&self) -> bool {
        self.character.is_some() && !self.same_mesh
    }

    /// Whether it adds nothing to the document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.character.is_none()
            && self.takes.is_empty()
            && self.targets.is_empty()
            && self.poses.is_empty()
    }

    /// Applies it to a document. The timeline takes the range of the first take, unless it already
    /// has keys or takes.
    pub fn apply(self, document: &mut Document) {
        match self.character {
            Some(asset) if self.same_mesh => document.character.asset = asset,
            Some(asset) => {
                document.character = Character {
                    asset,
                    ..Character::default()
                };
                document.pose.release();
                document.touch = touch::Setup::default();

                // The keys belong to sliders that no longer exist.
                document.timeline.keys.clear();
                document.timeline.playing_take = None;
            }
            None => {}
        }

        for pose in self.poses {
            document.pose.library.put(pose);
        }

        let Document {
            character,
            timeline,
            ..
        } = document;

        for mut target in self.targets {
            let taken = |name: &str| character.added.iter().any(|known| known.name == name);
            target.name = free_name(&target.name, taken);
            character.added.push(target);
        }

        // A rig opens on its sliders; its clips are in the list of takes.
        let plays = !self.has_sliders;
        for take in self.takes {
            if timeline.keys.is_empty()
                && timeline
                    .takes
                    .iter()
                    .all(|known| known.of != character.asset)
            {
                timeline.frames_per_second = take.frames_per_second;
                timeline.last_frame =
                    timeline.frames_of(take.frame_count as usize, take.frames_per_second);
            }

            let name = timeline.add_take(take);
            if plays {
                timeline.playing_take = Some(name);
            }
        }
    }
}

/// Inspects files, in order, for a document whose character is `character`. It loads them, so a
/// worker calls it. A cancelled import returns what was found so far.
#[must_use]
pub fn import(
    paths: &[PathBuf],
    character: &str,
    folder: &Path,
    progress: &dyn Progress,
) -> Import {
    let mut importer = Importer {
        folder,
        character: character.to_owned(),
        known: None,
        found: Import::default(),
    };

    let (meshes, others): (Vec<_>, Vec<_>) =
        paths.iter().partition(|path| is_mesh_file(path, folder));
    for (k, path) in meshes.into_iter().chain(others).enumerate() {
        // Loading a single file cannot be cancelled.
        if paths.len() > 1
            && progress
                .report(&shown(path), k as f64 / paths.len() as f64)
                .is_break()
        {
            break;
        }
        if let Err(message) = importer.add(path) {
            importer.found.declined.push(message);
        }
    }

    importer.found
}

/// Whether a file contains a mesh; files that move another mesh come after it.
pub(crate) fn is_mesh_file(path: &Path, folder: &Path) -> bool {
    match base_of(path, folder) {
        Some(LocatorBase::Path(file)) => {
            let needs_mesh = |format| {
                matches!(
                    format,
                    Format::Mdd | Format::Pc2 | Format::Npy | Format::Target
                )
            };
            is_folder(&file) || Format::of(&file).is_some_and(|format| !needs_mesh(format))
        }
        Some(_) => true,
        None => false,
    }
}

/// Whether it names a mesh with deltas, `MESH+DELTAS`.
fn is_pair(path: &Path, folder: &Path) -> bool {
    matches!(base_of(path, folder), Some(LocatorBase::Pair(..)))
}

fn base_of(path: &Path, folder: &Path) -> Option<LocatorBase> {
    io::Locator::parse(path.to_str()?, Some(folder))
        .ok()
        .map(|locator| locator.base)
}

struct Importer<'a> {
    folder: &'a Path,
    character: Locator,
    /// The character, once it is loaded.
    known: Option<Asset>,
    found: Import,
}

impl Importer<'_> {
    fn add(&mut self, path: &Path) -> Result<(), String> {
        let text = path_text(path)?;
        // Files without a mesh of their own are paired with the character.
        match Format::of(path) {
            None if is_project(path) => Err(format!(
                "'{}' is a project; open it with File › Open.",
                shown(path)
            )),
            None if is_performance_file(path) => match read_poses(path)? {
                Some(poses) => {
                    self.found.poses.extend(poses);
                    Ok(())
                }
                None => self.add_performance(path),
            },
            None if is_file(path) => Err(format!(
                "Pliant cannot read '{}'; it reads {}.",
                shown(path),
                readable()
            )),
            Some(Format::Npy | Format::Target) if !is_pair(path, self.folder) => {
                self.add_to_character(text, path)
            }
            _ => {
                let asset = self.load(text)?;
                self.add_asset(text, path, &asset)
            }
        }
    }

    fn load(&self, locator: &str) -> Result<Asset, String> {
        load_asset(locator, self.folder).map_err(to_message)
    }

    fn add_asset(&mut self, text: &str, path: &Path, asset: &Asset) -> Result<(), String> {
        let count = asset.vertex_count();
        let moves_character = !asset.clips.is_empty() && self.character_vertices() == Some(count);
        if moves_character {
            let of = self.character.clone();
            self.found.takes.extend(takes(text, &of, asset));
            return Ok(());
        }

        if asset
            .objects
            .iter()
            .all(|object| object.rig.neutral().face_count() == 0)
        {
            let known = self.character_vertices().map_or_else(
                || "there is no character yet".into(),
                |n| format!("the character has {n}"),
            );
            return Err(format!(
                "'{}' moves {count} vertices, but {known}; open its mesh first.",
                shown(path)
            ));
        }

        if let Some(target) = self.as_target(path, asset) {
            self.found.targets.push(target);
            return Ok(());
        }

        if let Some(first) = &self.found.character {
            return Err(format!(
                "'{}' was left out because '{}' already is the character.",
                shown(path),
                shown(Path::new(first))
            ));
        }

        self.found.character = Some(text.into());
        self.found.has_sliders = !asset.target_names().is_empty();
        // The clips of a specimen are always in the list of takes.
        if !text.starts_with("specimen:") {
            self.found.takes.extend(takes(text, text, asset));
        }

        (self.character, self.known) = (text.into(), Some(asset.clone()));
        Ok(())
    }

    /// A mesh without targets and clips that has the faces of the character, in another shape, is a
    /// target of it.
    fn as_target(&mut self, path: &Path, asset: &Asset) -> Option<AddedTarget> {
        if !asset.clips.is_empty() || !asset.target_names().is_empty() {
            return None;
        }
        let character = self.character()?;
        let neutral = character.mesh().ok()?;
        let shape = asset.in_space_of(character).mesh().ok()?;
        let same_faces = shape.faces().eq(neutral.faces());
        if !same_faces || shape.vertex_count() != neutral.vertex_count() {
            return None;
        }

        // Text files round positions; what moves less is at rest.
        let least = REST * neutral.bounds().map_or(0.0, |bounds| bounds.diagonal());
        let pairs = shape.positions().iter().zip(neutral.positions());
        let (vertices, deltas): (Vec<u32>, Vec<[f32; 3]>) = (0..)
            .zip(pairs.map(|(moved, rest)| *moved - *rest))
            .filter(|(_, delta)| delta.length() > least)
            .map(|(vertex, delta)| (vertex, delta.as_vec3().to_array()))
            .unzip();
        if vertices.is_empty() {
            return None;
        }

        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Some(AddedTarget {
            name: free_name(&stem, |name| {
                let targets = character.target_names();
                targets.iter().any(|known| known == name)
            }),
            vertices: Arc::new(vertices),
            deltas: Arc::new(deltas),
        })
    }

    /// Targets or frames that need the character's mesh.
    fn add_to_character(&mut self, text: &str, path: &Path) -> Result<(), String> {
        // Only a mesh in a file of its own can be paired.
        if self.character.is_empty()
            || self.character.starts_with("specimen:")
            || self.character.contains('+')
        {
            return Err(format!(
                "'{}' needs a mesh; open the mesh from its own file first.",
                shown(path)
            ));
        }

        let pair = format!("{}+{text}", self.character);
        let asset = self.load(&pair)?;
        // Deltas are new targets of the same mesh; frames are takes.
        if asset.clips.is_empty() {
            self.found.same_mesh = self.found.character.is_none() || self.found.same_mesh;
            self.found.character = Some(pair.clone());
            self.found.has_sliders = true;
            (self.character, self.known) = (pair, None);
        } else {
            let of = self.character.clone();
            self.found.takes.extend(takes(&pair, &of, &asset));
        }
        Ok(())
    }

    /// A take of weights for the sliders of the character.
    fn add_performance(&mut self, path: &Path) -> Result<(), String> {
        if self.character.is_empty() {
            return Err(format!(
                "'{}' needs a rig; open the rig first.",
                shown(path)
            ));
        }
        let rig = self.load(&self.character)?.rig().map_err(to_message)?;
        let (take, loss) = performance_take(path, &self.character, &rig)?;
        self.found.takes.push(take);
        self.found.losses.extend(loss);
        Ok(())
    }

    /// The character, which is loaded once.
    fn character(&mut self) -> Option<&Asset> {
        if self.known.is_none() && !self.character.is_empty() {
            self.known = self.load(&self.character).ok();
        }
        self.known.as_ref()
    }

    fn character_vertices(&mut self) -> Option<usize> {
        self.character().map(Asset::vertex_count)
    }
}

/// Chosen: displacements below this part of the diagonal are the rounding of text files.
const REST: f64 = 1e-6;

fn takes(locator: &str, of: &str, asset: &Asset) -> Vec<Take> {
    // A file with one clip needs no clip name in its locator.
    let alone = asset.clips.len() == 1;
    let take = |clip: &Animation| Take {
        name: if clip.name.is_empty() {
            asset.name.clone()
        } else {
            clip.name.clone()
        },
        of: of.into(),
        frames: TakeFrames::Clip(if alone {
            locator.into()
        } else {
            format!("{locator}#{}", clip.name)
        }),
        frames_per_second: clip.frames_per_second,
        frame_count: u32::try_from(clip.frame_count).unwrap_or(u32::MAX),
    };

    asset.clips.iter().map(take).collect()
}

/// Whether a file is a project, by its name.
pub(crate) fn is_project(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
}

/// The endings of all files that can be imported, for a message.
fn readable() -> String {
    readable_endings().join(", ")
}

/// The endings of all files that can be imported.
#[must_use]
pub fn readable_endings() -> Vec<String> {
    let formats = Format::ALL
        .into_iter()
        .filter(|format| format.can_read() || matches!(format, Format::Npy | Format::Target));
    let endings = formats.map(Format::ending).map(str::to_owned);
    endings.chain(performance_endings()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mesh, a clip that moves it, one that moves another, and something else.
    fn files() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let specimen = |name: &str| pliant::load(name).unwrap();
        let save = |asset: &Asset, name: &str| {
            drop(pliant::io::save(asset, folder.path().join(name)).unwrap())
        };

        save(&specimen("specimen:hound#walk"), "hound.glb");
        save(&specimen("specimen:hound#walk"), "walk.mdd");
        save(&specimen("specimen:tapir"), "tapir.obj");
        std::fs::write(folder.path().join("notes.txt"), "buy milk").unwrap();
        std::fs::write(folder.path().join("broken.obj"), "v 0 0 zero\n").unwrap();
        folder
    }

    #[test]
    fn a_rig_with_a_clip_is_the_character_and_a_take() {
        let folder = files();
        let path = folder.path().join("hound.glb");
        let found = import(
            std::slice::from_ref(&path),
            "specimen:head",
            folder.path(),
            &(),
        );

        assert_eq!(
            (
                found.character.as_deref(),
                found.takes.len(),
                &found.declined
            ),
            (path.to_str(), 1, &vec![])
        );

        // Applying the import sets the frame range to that of the take.
        let mut document = Document::default();
        found.apply(&mut document);
        let timeline = &document.timeline;

        assert_eq!(timeline.takes[0].of, document.character.asset);
        let take = &timeline.takes[0];
        assert_eq!(
            (timeline.frames_per_second, timeline.last_frame),
            (take.frames_per_second, take.frame_count - 1),
            "its own range"
        );
    }

    #[test]
    fn several_files_are_imported_and_declined_files_are_listed() {
        let folder = files();
        let paths = [
            "walk.mdd",
            "notes.txt",
            "broken.obj",
            "hound.glb",
            "tapir.obj",
        ]
        .map(|name| folder.path().join(name));

        let found = import(&paths, "", folder.path(), &());
        assert_eq!(found.character.as_deref(), paths[3].to_str());
        assert_eq!(
            found.takes.len(),
            2,
            "that of the rig and the point cache: {found:?}"
        );

        // Text, damaged geometry and a mesh without a clip each get their own line.
        let declined = found.declined.join("\n");
        assert!(
            found.declined.len() == 3
                && ["notes.txt", "broken.obj", "tapir.obj"]
                    .iter()
                    .all(|name| declined.contains(name)),
            "{declined}"
        );
    }

    #[test]
    fn an_imported_take_does_not_change_the_range_of_keys() {
        let folder = files();
        let mut document = Document::default();
        document.character.asset = folder.path().join("hound.glb").display().to_string();
        document.timeline.set_key("smile", 3, 0.5);

        let before = document.timeline.clone();
        import(
            &[folder.path().join("walk.mdd")],
            &document.character.asset,
            folder.path(),
            &(),
        )
        .apply(&mut document);

        let after = &document.timeline;
        assert_eq!(
            (after.takes.len(), after.last_frame, after.frames_per_second),
            (1, before.last_frame, before.frames_per_second)
        );
    }

    #[test]
    fn a_mesh_with_the_faces_of_the_character_is_a_target() {
        let folder = files();
        let tapir = pliant::load("specimen:tapir").unwrap();
        let mesh = tapir.mesh().unwrap();
        let mut positions = mesh.positions().to_vec();
        positions[7].y += 0.25;
        let shape = folder.path().join("bump.obj");
        pliant::io::save(&tapir.posed(&positions).unwrap(), &shape).unwrap();

        let character = folder.path().join("tapir.obj").display().to_string();
        let found = import(
            &[shape.clone(), shape.clone()],
            &character,
            folder.path(),
            &(),
        );
        assert_eq!((&found.character, &found.declined), (&None, &vec![]));
        assert_eq!(*found.targets[0].vertices, [7]);
        assert!((found.targets[0].deltas[0][1] - 0.25).abs() < 1e-5);

        let mut document = Document::default();
        document.character.asset.clone_from(&character);
        found.apply(&mut document);
        let names = document.character.added.iter().map(|added| &*added.name);
        assert_eq!(names.collect::<Vec<_>>(), ["bump", "bump 2"]);
        assert_eq!(document.character.asset, character, "it stays");

        // The same mesh at rest is no target.
        let same = folder.path().join("tapir.obj");
        assert!(import(&[same], &character, folder.path(), &()).brings_character());
    }

    #[test]
    fn a_rig_with_a_clip_opens_on_its_sliders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head.glb");
        let head = pliant::load("specimen:head#smile").or_else(|_| pliant::load("specimen:head"));
        pliant::io::save(&head.unwrap(), &path).unwrap();
        let mut found = import(&[path], "", folder.path(), &());
        assert!(found.has_sliders);

        let of = found.character.clone().unwrap();
        found.takes = vec![Take::made("talk", of, &[vec![]], 24.0)];
        let mut document = Document::default();
        found.apply(&mut document);
        assert_eq!(document.timeline.takes.len(), 1, "the clip is offered");
        assert_eq!(document.timeline.playing_take, None);
    }

    #[test]
    fn a_cancelled_import_loads_no_more_files() {
        struct Stop;
        impl Progress for Stop {
            fn report(&self, _stage: &str, done: f64) -> std::ops::ControlFlow<()> {
                if done > 0.0 {
                    std::ops::ControlFlow::Break(())
                } else {
                    std::ops::ControlFlow::Continue(())
                }
            }
        }

        let folder = files();
        let paths = ["hound.glb", "walk.mdd", "notes.txt"].map(|name| folder.path().join(name));
        let found = import(&paths, "", folder.path(), &Stop);

        assert_eq!(
            (found.takes.len(), found.declined),
            (1, vec![]),
            "the rig's own"
        );
    }

    #[test]
    fn a_mesh_with_deltas_becomes_the_character() {
        let folder = files();
        let count = pliant::load("specimen:tapir").unwrap().vertex_count();
        let still = io::npy::write_f32(&[2, count, 3], vec![0.0; 6 * count]);
        std::fs::write(folder.path().join("deltas.npy"), still).unwrap();
        let pair = format!("{}+deltas.npy", folder.path().join("tapir.obj").display());
        let found = import(&[PathBuf::from(&pair)], "specimen:head", folder.path(), &());
        assert_eq!((found.character, found.declined), (Some(pair), vec![]));
    }

    #[test]
    fn a_clip_of_another_mesh_is_declined_with_a_reason() {
        let folder = files();
        let found = import(
            &[folder.path().join("walk.mdd")],
            "specimen:head",
            folder.path(),
            &(),
        );

        assert!(
            found.is_empty() && found.declined[0].contains("open its mesh first"),
            "{found:?}"
        );
    }
}
