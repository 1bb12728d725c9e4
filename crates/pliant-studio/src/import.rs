//! Files that are dropped or chosen: what each of them is to the document.
//!
//! | file | becomes |
//! |---|---|
//! | mesh or rig | the character, its clips takes of it |
//! | clip of as many vertices as the character has | takes of the character |
//! | targets or frames that need a mesh (`.npy`, `.target`) | a pair with the character |

use std::path::{Path, PathBuf};

use pliant::io::{self, Animation, Asset, Base, Format, LoadOptions};
use pliant::mesh::Progress;

use crate::document::{Character, Document, Locator};
use crate::names::shown;
use crate::project::ENDING;
use crate::rooms::touch;
use crate::timeline::{Take, TakeFrames};

/// What the files of one drop are to the document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Import {
    /// The character from now on.
    pub character: Option<Locator>,
    /// Whether the new character is the old one with more targets, so that its pose stays.
    pub same_mesh: bool,
    /// Takes to add.
    pub takes: Vec<Take>,
    /// Files that came to nothing, one sentence each.
    pub declined: Vec<String>,
}

impl Import {
    /// What it is called in the Edit menu.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.character, self.takes.len()) {
            (Some(_), _) if self.same_mesh => "Import targets".into(),
            (Some(_), _) => "Import character".into(),
            (None, 1) => "Import take".into(),
            (None, _) => "Import takes".into(),
        }
    }

    /// Whether the character becomes another one.
    #[must_use]
    pub fn brings_character(&self) -> bool {
        self.character.is_some() && !self.same_mesh
    }

    /// Whether there is nothing in it for the document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.character.is_none() && self.takes.is_empty()
    }

    /// Puts it into a document. The timeline becomes the first take's own, unless something is made
    /// for it already.
    pub fn apply(self, document: &mut Document) {
        match self.character {
            Some(asset) if self.same_mesh => document.character.asset = asset,
            Some(asset) => {
                document.character = Character {
                    asset,
                    ..Character::default()
                };
                document.pose.let_go();
                document.touch = touch::Setup::default();
                // Keys are of sliders that are no longer there.
                document.timeline.keys.clear();
                document.timeline.playing_take = None;
            }
            None => {}
        }
        let Document {
            character,
            timeline,
            ..
        } = document;
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
            timeline.playing_take = Some(name);
        }
    }
}

/// Looks into files, in order, for a document whose character is `character`; loads them, so a
/// worker calls it. What is stopped before its end comes back as far as it came.
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
        vertices: None,
        found: Import::default(),
    };
    let (meshes, others): (Vec<_>, Vec<_>) =
        paths.iter().partition(|path| is_mesh_file(path, folder));
    for (k, path) in meshes.into_iter().chain(others).enumerate() {
        // One file is loaded in one go: nobody could stop it.
        if paths.len() > 1
            && progress
                .report(&shown(path), k as f64 / paths.len() as f64)
                .is_break()
        {
            break;
        }
        if let Err(sentence) = importer.add(path) {
            importer.found.declined.push(sentence);
        }
    }
    importer.found
}

/// Whether a file can stand alone: those that move another mesh come after it.
pub(crate) fn is_mesh_file(path: &Path, folder: &Path) -> bool {
    match base_of(path, folder) {
        Some(Base::Path(file)) => {
            let needs_mesh = |format| {
                matches!(
                    format,
                    Format::Mdd | Format::Pc2 | Format::Npy | Format::Target
                )
            };
            file.is_dir() || Format::of(&file).is_some_and(|format| !needs_mesh(format))
        }
        Some(_) => true,
        None => false,
    }
}

/// Whether it names a mesh together with what moves it, `MESH+DELTAS`.
fn is_pair(path: &Path, folder: &Path) -> bool {
    matches!(base_of(path, folder), Some(Base::Pair(..)))
}

fn base_of(path: &Path, folder: &Path) -> Option<Base> {
    io::Locator::parse(path.to_str()?, Some(folder))
        .ok()
        .map(|locator| locator.base)
}

struct Importer<'a> {
    folder: &'a Path,
    character: Locator,
    /// How many vertices the character has, once that was asked.
    vertices: Option<usize>,
    found: Import,
}

impl Importer<'_> {
    fn add(&mut self, path: &Path) -> Result<(), String> {
        let text = path.to_str().ok_or_else(|| {
            format!(
                "'{}' has a name that is no text; rename it.",
                path.display()
            )
        })?;
        match Format::of(path) {
            None if is_project(path) => Err(format!(
                "'{}' is a project; open it with File › Open.",
                shown(path)
            )),
            None if path.is_file() => Err(format!(
                "'{}' is no file that Pliant reads; it reads {}.",
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
        let options = LoadOptions::default()
            .with_specimens(&pliant::BuiltIn)
            .with_folder(self.folder);
        pliant::io::load(locator, &options).map_err(|error| error.to_string())
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
                "'{}' moves {count} points, but {known}; open its mesh first.",
                shown(path)
            ));
        }
        if let Some(first) = &self.found.character {
            return Err(format!(
                "'{}' was left out: '{}' is the character already.",
                shown(path),
                shown(Path::new(first))
            ));
        }
        self.found.character = Some(text.into());
        // The clips of a specimen are in the list of takes without being asked for.
        if !text.starts_with("specimen:") {
            self.found.takes.extend(takes(text, text, asset));
        }
        (self.character, self.vertices) = (text.into(), Some(count));
        Ok(())
    }

    /// Targets or frames that need the character's mesh.
    fn add_to_character(&mut self, text: &str, path: &Path) -> Result<(), String> {
        if self.character.is_empty()
            || self.character.starts_with("specimen:")
            || self.character.contains('+')
        {
            return Err(format!(
                "'{}' belongs to a mesh; open that first, from a file of its own.",
                shown(path)
            ));
        }
        let pair = format!("{}+{text}", self.character);
        let asset = self.load(&pair)?;
        if asset.clips.is_empty() {
            self.found.same_mesh = self.found.character.is_none() || self.found.same_mesh;
            self.found.character = Some(pair.clone());
            self.character = pair;
        } else {
            let of = self.character.clone();
            self.found.takes.extend(takes(&pair, &of, &asset));
        }
        Ok(())
    }

    fn character_vertices(&mut self) -> Option<usize> {
        if self.vertices.is_none() && !self.character.is_empty() {
            self.vertices = self
                .load(&self.character)
                .ok()
                .map(|asset| asset.vertex_count());
        }
        self.vertices
    }
}

fn takes(locator: &str, of: &str, asset: &Asset) -> Vec<Take> {
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

/// The endings of all files that can be imported, for a sentence.
fn readable() -> String {
    readable_endings().join(", ")
}

/// The endings of all files that can be imported.
#[must_use]
pub fn readable_endings() -> Vec<String> {
    let formats = Format::ALL
        .into_iter()
        .filter(|format| format.can_read() || matches!(format, Format::Npy | Format::Target));
    formats.map(Format::ending).map(str::to_owned).collect()
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
    fn several_files_find_their_places_and_others_are_told_one_by_one() {
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
    fn a_take_beside_keys_leaves_their_range() {
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
    fn an_import_that_is_stopped_loads_no_more() {
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
    fn a_mesh_with_what_moves_it_is_the_character() {
        let folder = files();
        let count = pliant::load("specimen:tapir").unwrap().vertex_count();
        let still = io::npy::write_f32(&[2, count, 3], vec![0.0; 6 * count]);
        std::fs::write(folder.path().join("deltas.npy"), still).unwrap();
        let pair = format!("{}+deltas.npy", folder.path().join("tapir.obj").display());
        let found = import(&[PathBuf::from(&pair)], "specimen:head", folder.path(), &());
        assert_eq!((found.character, found.declined), (Some(pair), vec![]));
    }

    #[test]
    fn a_clip_of_another_mesh_says_what_does_not_fit() {
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
