//! Files that become sources, the target mesh, or a recipe.

use std::path::{Path, PathBuf};

use pliant::io::{Format, LocatorBase};

use super::recipe_file::read_recipe;
use crate::engine::arrivals::{FileQueue, path_text, summary};
use crate::engine::context::Cx;
use crate::engine::library::load_asset;
use crate::model::document::{Document, Locator};
use crate::model::names::{shown, to_message};
use crate::model::project::absolute;
use crate::model::transfer::Setup;

/// Role of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRole {
    /// One more clip.
    Source,
    /// The mesh that is to move.
    Target,
    /// Unknown: a file with an animation is a source, others are the target.
    Unsaid,
}

/// Files in progress.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    files: FileQueue<(PathBuf, FileRole), InspectedFiles>,
}

/// The content of inspected files.
#[derive(Debug, Default)]
struct InspectedFiles {
    recipe: Option<(String, Setup)>,
    target: Option<Locator>,
    sources: Vec<Locator>,
    /// A message for each action.
    done: Vec<String>,
    /// What were declined, a message each.
    declined: Vec<String>,
}

/// Whether the room knows what to do with such a file.
pub(crate) fn is_known(path: &Path) -> bool {
    is_recipe(path) || Format::of(path).is_some_and(|format| format != Format::Target)
}

fn is_recipe(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

impl Arrivals {
    /// Takes a file; it is looked into before the next frame.
    pub(crate) fn take(&mut self, path: PathBuf, place: FileRole) {
        self.files.push((path, place));
    }

    /// Whether files are being looked into.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.files.busy()
    }

    /// Looks into files, and puts what they are into the document in one step. Returns which source
    /// came last.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) -> Option<usize> {
        self.files.start(cx, |files| {
            let folder = absolute(cx.library.folder());
            let mesh = first_mesh(&cx.document.transfer, &folder);
            move || InspectedFiles::in_files(&files, mesh.as_deref(), &folder)
        });
        self.files.fetch(cx)?.keep(cx)
    }
}

/// The file of the first source's mesh, which clips without a mesh may move.
fn first_mesh(setup: &Setup, folder: &Path) -> Option<Locator> {
    let clip = &setup.sources.first()?.clip;
    match pliant::io::Locator::parse(clip, Some(folder)).ok()?.base {
        LocatorBase::Path(mesh) | LocatorBase::Pair(mesh, _) => mesh.to_str().map(str::to_owned),
        _ => None,
    }
}

impl InspectedFiles {
    fn in_files(files: &[(PathBuf, FileRole)], mesh: Option<&str>, folder: &Path) -> Self {
        let mut found = Self::default();
        for (path, place) in files {
            let added = if is_recipe(path) {
                found.add_recipe(path)
            } else {
                found.add_asset(path, *place, mesh, folder)
            };
            // A declined file does not stop the others.
            added.unwrap_or_else(|message| found.declined.push(message));
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
        place: FileRole,
        mesh: Option<&str>,
        folder: &Path,
    ) -> Result<(), String> {
        let text = path_text(path)?;

        // Point caches have no mesh; they move that of the first source.
        let moves_another = matches!(
            Format::of(path),
            Some(Format::Npy | Format::Mdd | Format::Pc2)
        );

        let locator = match mesh {
            _ if moves_another && place == FileRole::Target => {
                return Err(format!(
                    "'{}' contains no mesh; drop it on the left to use it as a source.",
                    shown(path)
                ));
            }
            Some(mesh) if moves_another => format!("{mesh}+{text}"),
            None if moves_another => {
                return Err(format!(
                    "'{}' contains motion without a mesh; add a source with a mesh first.",
                    shown(path)
                ));
            }
            _ => text.to_owned(),
        };

        let asset = load_asset(&locator, folder).map_err(to_message)?;
        let still = asset.clips.is_empty();

        match place {
            FileRole::Source if still => Err(format!(
                "'{}' contains no animation; drop it on the right to use it as the target mesh.",
                shown(path)
            )),
            FileRole::Source => self.add_source(
                path,
                &locator,
                asset.clips.iter().map(|clip| &*clip.name).collect(),
            ),
            FileRole::Unsaid if !still => self.add_source(
                path,
                &locator,
                asset.clips.iter().map(|clip| &*clip.name).collect(),
            ),
            FileRole::Target | FileRole::Unsaid => self.set_target(path, locator),
        }
    }

    fn add_source(&mut self, path: &Path, locator: &str, clips: Vec<&str>) -> Result<(), String> {
        let name = shown(path);
        match clips[..] {
            // Of several named clips the first is used.
            [first, _, ..] if !first.is_empty() => {
                self.sources.push(format!("{locator}#{first}"));
                let others = clips[1..].join(", ");
                self.done.push(format!("Added the clip {first} of {name} as a source; the file also contains {others} (type FILE#NAME to choose)."));
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
                "'{}' was left out because '{}' already is the target mesh.",
                shown(path),
                shown(Path::new(first))
            ));
        }

        self.done
            .push(format!("{} is the target mesh now.", shown(path)));
        self.target = Some(locator);
        Ok(())
    }

    /// One step of the document and one message.
    fn keep(self, cx: &mut Cx<'_>) -> Option<usize> {
        let Self {
            recipe,
            target,
            sources,
            done,
            declined,
        } = self;

        cx.notify(summary(&done, &declined));

        let label = match (&recipe, &target, sources.len()) {
            (None, None, 0) => return None,
            (Some(_), ..) => "Load recipe",
            (None, None, _) => "Add source",
            (None, Some(_), 0) => "Choose target",
            (None, Some(_), _) => "Add meshes",
        };

        for locator in sources.iter().chain(&target) {
            cx.library.reload(locator);
        }

        // The index of the last new source, counted after a recipe replaced the others.
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

            if let Some(target) = target {
                setup.set_target(target);
            }
            for source in sources {
                setup.add_source(source);
            }
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
    fn animated_files_become_sources_and_others_the_target() {
        let folder = files();
        let paths =
            ["walk.glb", "tapir.obj"].map(|name| (folder.path().join(name), FileRole::Unsaid));
        let found = InspectedFiles::in_files(&paths, None, folder.path());

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
    fn a_mesh_without_animation_is_declined_as_a_source() {
        let folder = files();
        let found = InspectedFiles::in_files(
            &[(folder.path().join("tapir.obj"), FileRole::Source)],
            None,
            folder.path(),
        );

        assert!(
            found.sources.is_empty() && found.declined[0].contains("drop it on the right"),
            "{found:?}"
        );
    }

    #[test]
    fn a_point_cache_needs_a_source_with_a_mesh() {
        let folder = files();
        let cache = [(folder.path().join("walk.mdd"), FileRole::Source)];
        let mesh = folder.path().join("walk.glb");
        let found = InspectedFiles::in_files(&cache, mesh.to_str(), folder.path());

        assert!(
            found.sources.len() == 1 && found.sources[0].contains("walk.glb+"),
            "{found:?}"
        );

        let alone = InspectedFiles::in_files(&cache, None, folder.path());
        assert!(
            alone.declined[0].contains("add a source with a mesh first"),
            "{alone:?}"
        );
    }
}
