//! Files that come into the room: as sources, as the target, or as a recipe.

use std::path::{Path, PathBuf};

use pliant::io::{Base, Format, LoadOptions};

use super::recipe_file::read_recipe;
use super::setup::Setup;
use crate::command::Notice;
use crate::document::{Document, Locator};
use crate::names::shown;
use crate::project::absolute;
use crate::rooms::Cx;
use crate::work::Task;

/// What a file is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// One more clip.
    Source,
    /// The mesh that is to move.
    Target,
    /// Nobody said: what moves is a source, and what does not is the target.
    Unsaid,
}

/// Files on their way.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    waiting: Vec<(PathBuf, Place)>,
    task: Option<Task<Found>>,
}

/// What files turned out to be.
#[derive(Debug, Default)]
struct Found {
    recipe: Option<(String, Setup)>,
    target: Option<Locator>,
    sources: Vec<Locator>,
    /// What was done, a sentence each.
    done: Vec<String>,
    /// What came to nothing, a sentence each.
    declined: Vec<String>,
}

/// Whether the room knows what to do with such a file.
pub(super) fn is_known(path: &Path) -> bool {
    is_recipe(path) || Format::of(path).is_some_and(|format| format != Format::Target)
}

fn is_recipe(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

impl Arrivals {
    /// Takes a file; it is looked into before the next frame.
    pub(super) fn take(&mut self, path: PathBuf, place: Place) {
        self.waiting.push((path, place));
    }

    /// Whether files are being looked into.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some() || !self.waiting.is_empty()
    }

    /// Looks into files, and puts what they are into the document in one step. Says which source
    /// came last.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) -> Option<usize> {
        if self.task.is_none() && !self.waiting.is_empty() {
            let files = std::mem::take(&mut self.waiting);
            let folder = absolute(cx.library.folder());
            let mesh = first_mesh(&cx.document.transfer, &folder);
            self.task = Some(Task::start(
                "Looking into files",
                cx.wake.clone(),
                move |_| Ok(Found::in_files(&files, mesh.as_deref(), &folder)),
            ));
        }
        match Task::finished(&mut self.task)? {
            Err(sentence) => {
                cx.tell(Notice::trouble(sentence));
                None
            }
            Ok(found) => found.keep(cx),
        }
    }
}

/// The file of the first source's mesh, which clips without a mesh may move.
fn first_mesh(setup: &Setup, folder: &Path) -> Option<Locator> {
    let clip = &setup.sources.first()?.clip;
    match pliant::io::Locator::parse(clip, Some(folder)).ok()?.base {
        Base::Path(mesh) | Base::Pair(mesh, _) => mesh.to_str().map(str::to_owned),
        _ => None,
    }
}

impl Found {
    fn in_files(files: &[(PathBuf, Place)], mesh: Option<&str>, folder: &Path) -> Self {
        let mut found = Self::default();
        for (path, place) in files {
            let added = if is_recipe(path) {
                found.add_recipe(path)
            } else {
                found.add_asset(path, *place, mesh, folder)
            };
            added.unwrap_or_else(|sentence| found.declined.push(sentence));
        }
        found
    }

    fn add_recipe(&mut self, path: &Path) -> Result<(), String> {
        let (setup, problems) = read_recipe(path)?;
        self.done
            .push(format!("Loaded the recipe {}.", shown(path)));
        self.done.extend(problems);
        self.recipe = Some((shown(path), setup));
        Ok(())
    }

    fn add_asset(
        &mut self,
        path: &Path,
        place: Place,
        mesh: Option<&str>,
        folder: &Path,
    ) -> Result<(), String> {
        let text = path.to_str().ok_or_else(|| {
            format!(
                "'{}' has a name that is no text; rename it.",
                path.display()
            )
        })?;
        let moves_another = matches!(
            Format::of(path),
            Some(Format::Npy | Format::Mdd | Format::Pc2)
        );
        let locator = match mesh {
            _ if moves_another && place == Place::Target => {
                return Err(format!(
                    "'{}' holds no mesh; drop it on the left to make it a source.",
                    shown(path)
                ));
            }
            Some(mesh) if moves_another => format!("{mesh}+{text}"),
            None if moves_another => {
                return Err(format!(
                    "'{}' moves a mesh that it does not hold; add a source from a file first.",
                    shown(path)
                ));
            }
            _ => text.to_owned(),
        };
        let options = LoadOptions::default()
            .with_specimens(&pliant::BuiltIn)
            .with_folder(folder);
        let asset = pliant::io::load(&locator, &options).map_err(|error| error.to_string())?;
        let still = asset.clips.is_empty();
        match place {
            Place::Source if still => Err(format!(
                "'{}' does not move; drop it on the right to make it the target.",
                shown(path)
            )),
            Place::Source => self.add_source(
                path,
                &locator,
                asset.clips.iter().map(|clip| &*clip.name).collect(),
            ),
            Place::Unsaid if !still => self.add_source(
                path,
                &locator,
                asset.clips.iter().map(|clip| &*clip.name).collect(),
            ),
            Place::Target | Place::Unsaid => self.set_target(path, locator),
        }
    }

    fn add_source(&mut self, path: &Path, locator: &str, clips: Vec<&str>) -> Result<(), String> {
        let name = shown(path);
        match clips[..] {
            [first, _, ..] if !first.is_empty() => {
                self.sources.push(format!("{locator}#{first}"));
                let others = clips[1..].join(", ");
                self.done.push(format!("Added {first} of {name} as a source; the file also has {others}, see #NAME in the field."));
            }
            _ => {
                self.sources.push(locator.to_owned());
                self.done.push(format!("Added {name} as a source."));
            }
        }
        Ok(())
    }

    fn set_target(&mut self, path: &Path, locator: Locator) -> Result<(), String> {
        if let Some(first) = &self.target {
            return Err(format!(
                "'{}' was left out: '{}' is the target already.",
                shown(path),
                shown(Path::new(first))
            ));
        }
        self.done
            .push(format!("{} is the target now.", shown(path)));
        self.target = Some(locator);
        Ok(())
    }

    /// One step of the document and one sentence.
    fn keep(self, cx: &mut Cx<'_>) -> Option<usize> {
        let Self {
            recipe,
            target,
            sources,
            done,
            declined,
        } = self;
        let told = done
            .iter()
            .chain(&declined)
            .cloned()
            .collect::<Vec<_>>()
            .join(" ");
        cx.tell(if declined.is_empty() {
            Notice::done(told)
        } else {
            Notice::trouble(told)
        });
        let label = match (&recipe, &target, sources.len()) {
            (None, None, 0) => return None,
            (Some(_), ..) => "Load recipe",
            (None, None, _) => "Add source",
            (None, Some(_), 0) => "Choose target",
            (None, Some(_), _) => "Add meshes",
        };
        sources
            .iter()
            .chain(&target)
            .for_each(|locator| cx.library.reload(locator));
        let before = recipe
            .as_ref()
            .map_or(cx.document.transfer.sources.len(), |(_, setup)| {
                setup.sources.len()
            });
        let last = (!sources.is_empty()).then(|| before + sources.len() - 1);
        cx.edit(label, move |document: &mut Document| {
            let setup = &mut document.transfer;
            if let Some((_, read)) = recipe {
                *setup = read;
            }
            target
                .into_iter()
                .for_each(|target| setup.set_target(target));
            sources
                .into_iter()
                .for_each(|source| setup.add_source(source));
        });
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let save = |specimen: &str, name: &str| {
            drop(
                pliant::io::save(&pliant::load(specimen).unwrap(), folder.path().join(name))
                    .unwrap(),
            )
        };
        save("specimen:hound#walk", "walk.glb");
        save("specimen:hound#walk", "walk.mdd");
        save("specimen:tapir", "tapir.obj");
        folder
    }

    #[test]
    fn what_moves_is_a_source_and_what_does_not_the_target_where_nobody_says() {
        let folder = files();
        let paths = ["walk.glb", "tapir.obj"].map(|name| (folder.path().join(name), Place::Unsaid));
        let found = Found::in_files(&paths, None, folder.path());
        assert_eq!(
            (
                found.sources.len(),
                found.target.as_deref(),
                &*found.declined
            ),
            (1, paths[1].0.to_str(), &[][..])
        );
    }

    #[test]
    fn a_mesh_that_does_not_move_is_no_source_and_says_where_it_goes() {
        let folder = files();
        let found = Found::in_files(
            &[(folder.path().join("tapir.obj"), Place::Source)],
            None,
            folder.path(),
        );
        assert!(
            found.sources.is_empty() && found.declined[0].contains("drop it on the right"),
            "{found:?}"
        );
    }

    #[test]
    fn a_point_cache_moves_the_mesh_of_the_source_that_is_there_or_says_what_it_needs() {
        let folder = files();
        let cache = [(folder.path().join("walk.mdd"), Place::Source)];
        let mesh = folder.path().join("walk.glb");
        let found = Found::in_files(&cache, mesh.to_str(), folder.path());
        assert!(
            found.sources.len() == 1 && found.sources[0].contains("walk.glb+"),
            "{found:?}"
        );
        let alone = Found::in_files(&cache, None, folder.path());
        assert!(
            alone.declined[0].contains("add a source from a file first"),
            "{alone:?}"
        );
    }
}
