//! Files that come into the room: poses to learn from, and models that were trained elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::io::{Format, LoadOptions, holds_markers};
use pliant::learn::Model;
use pliant::skeleton_file::SkeletonFile;

use super::poses::PoseSet;
use super::setup::{Details, Drive, DrivenBy, Recipe, Trained};
use crate::blob::Blob;
use crate::command::Notice;
use crate::document::{Document, Locator};
use crate::names::shown;
use crate::project::absolute;
use crate::rooms::Cx;
use crate::work::Task;

/// What a file is to the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Poses to learn from.
    Example,
    /// A model.
    Model,
    /// Captured points.
    Capture,
    /// Joints.
    Skeleton,
}

impl Role {
    /// The role of a file by its ending.
    #[must_use]
    pub(super) fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_lowercase();
        match &*ending {
            "safetensors" => Some(Self::Model),
            "json" | "toml" => Some(Self::Skeleton),
            "npy" => Some(Self::Capture),
            _ if holds_markers(path) => Some(Self::Capture),
            _ => Format::of(path)
                .filter(|format| format.can_read())
                .map(|_| Self::Example),
        }
    }
}

/// Files on their way.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    examples: Vec<PathBuf>,
    looking: Option<Task<Examples>>,
    model: Option<Task<Loaded>>,
}

/// Poses, and files that are none.
#[derive(Debug, Default)]
struct Examples {
    sources: Vec<Locator>,
    declined: Vec<String>,
}

/// A model that was read.
#[derive(Debug)]
struct Loaded {
    name: String,
    vertices: usize,
    trained: Trained,
}

/// What came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// Poses.
    Examples,
    /// A model.
    Model,
}

impl Arrivals {
    /// Takes a file with poses; it is looked into before the next frame.
    pub(super) fn take_example(&mut self, path: PathBuf) {
        self.examples.push(path);
    }

    /// Reads a model.
    pub(super) fn take_model(&mut self, path: PathBuf, cx: &Cx<'_>) {
        self.model = Some(Task::start("Reading a model", cx.wake.clone(), move |_| {
            Loaded::read(&path)
        }));
    }

    /// Whether files are being looked into.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.looking.is_some() || self.model.is_some() || !self.examples.is_empty()
    }

    /// Looks into files, and puts what they are into the document. Says what came.
    pub(super) fn update(&mut self, poses: Option<&Arc<PoseSet>>, cx: &mut Cx<'_>) -> Option<Came> {
        if self.looking.is_none() && !self.examples.is_empty() {
            let (files, folder) = (
                std::mem::take(&mut self.examples),
                absolute(cx.library.folder()),
            );
            let first = cx.document.learn.recipe.sources.first().cloned();
            let work = move |_: &_| Ok(Examples::in_files(&files, first.as_deref(), &folder));
            self.looking = Some(Task::start("Looking into files", cx.wake.clone(), work));
        }
        match Task::finished(&mut self.model) {
            None => {}
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
            Some(Ok(loaded)) => {
                loaded.keep(poses, cx);
                return Some(Came::Model);
            }
        }
        match Task::finished(&mut self.looking)? {
            Err(sentence) => {
                cx.tell(Notice::trouble(sentence));
                None
            }
            Ok(found) => found.keep(cx).then_some(Came::Examples),
        }
    }
}

impl Examples {
    /// Files whose mesh is that of `first`, or of the first of them.
    fn in_files(files: &[PathBuf], first: Option<&str>, folder: &Path) -> Self {
        let options = LoadOptions::default()
            .with_specimens(&pliant::BuiltIn)
            .with_folder(folder);
        let counted = |locator: &str| {
            let mesh = pliant::io::load(locator, &options)
                .and_then(|asset| asset.mesh())
                .map_err(|error| error.to_string())?;
            Ok::<_, String>([mesh.vertex_count(), mesh.face_count()])
        };
        let mut expected = first.and_then(|first| counted(first).ok());
        let mut found = Self::default();
        for path in files {
            let Some(text) = path.to_str() else {
                found.declined.push(format!(
                    "'{}' has a name that is no text; rename it.",
                    path.display()
                ));
                continue;
            };
            match counted(text) {
                Err(sentence) => found.declined.push(sentence),
                Ok(counts) if *expected.get_or_insert(counts) == counts => {
                    found.sources.push(text.to_owned())
                }
                Ok([vertices, faces]) => {
                    let [known, known_faces] = expected.unwrap_or_default();
                    let name = shown(path);
                    found.declined.push(format!(
                        "'{name}' was left out: it has {vertices} vertices and {faces} faces, the examples {known} and {known_faces}; \
                         all must be poses of one mesh."
                    ));
                }
            }
        }
        found
    }

    /// One step of the document and one sentence; says whether there was something.
    fn keep(self, cx: &mut Cx<'_>) -> bool {
        let Self { sources, declined } = self;
        let names: Vec<String> = sources
            .iter()
            .map(|source| shown(Path::new(source)))
            .collect();
        let done =
            (!names.is_empty()).then(|| format!("Added {} to learn from.", names.join(", ")));
        let told = done
            .into_iter()
            .chain(declined.iter().cloned())
            .collect::<Vec<_>>()
            .join(" ");
        cx.tell(if declined.is_empty() {
            Notice::done(told)
        } else {
            Notice::trouble(told)
        });
        if sources.is_empty() {
            return false;
        }
        sources.iter().for_each(|source| cx.library.reload(source));
        cx.edit("Add examples", move |document| {
            let known = &mut document.learn.recipe.sources;
            let fresh: Vec<Locator> = sources
                .into_iter()
                .filter(|source| !known.contains(source))
                .collect();
            known.extend(fresh);
        });
        true
    }
}

impl Loaded {
    fn read(path: &Path) -> Result<Self, String> {
        let name = shown(path);
        let bytes =
            std::fs::read(path).map_err(|error| format!("'{name}' cannot be read: {error}."))?;
        let model = Model::from_bytes(&bytes)
            .map_err(|error| format!("'{name}' is no model that can be driven: {error}."))?;
        let options = model.options();
        let of = Recipe {
            points: model.control().vertices().to_vec(),
            method: options.method(),
            neighbors: options.neighbors(),
            pose_neighbors: options.pose_neighbors(),
            beta: Some(options.beta()),
            bones: Some(options.bones()),
            exact: options.exact(),
            details: if model.detail().is_some() {
                Details::Smoothing
            } else {
                Details::None
            },
            ..Recipe::default()
        };
        let vertices = model.examples().reference().vertex_count();
        let trained = Trained {
            model: Blob::new(bytes, "safetensors"),
            of,
            problems: Vec::new(),
            chosen: model
                .chosen()
                .map_or_else(String::new, |settings| settings.to_string()),
            examples: model.examples().count(),
            bones: model.bone_count(),
            fit_error: model.fit_error(),
            secs: 0.0,
        };
        Ok(Self {
            name,
            vertices,
            trained,
        })
    }

    /// The model takes the place of what was set up; examples of the same mesh stay.
    fn keep(self, poses: Option<&Arc<PoseSet>>, cx: &mut Cx<'_>) {
        let Self {
            name,
            vertices,
            mut trained,
        } = self;
        if poses.is_some_and(|poses| poses.mesh.vertex_count() == vertices) {
            let Recipe {
                sources,
                rest,
                left_out,
                ..
            } = cx.document.learn.recipe.clone();
            trained.of = Recipe {
                sources,
                rest,
                left_out,
                ..trained.of
            };
        }
        cx.tell(Notice::done(format!(
            "{name} is driven now by its {} control points.",
            trained.of.points.len()
        )));
        cx.edit("Load model", move |document: &mut Document| {
            let setup = &mut document.learn;
            let points = trained.of.points.len();
            setup.skeleton.take_if(|skeleton| !leads(skeleton, points));
            let by = if setup.skeleton.is_some() {
                DrivenBy::Effectors
            } else {
                DrivenBy::Points
            };
            setup.drive = Drive {
                by,
                goals: Vec::new(),
                effectors: Vec::new(),
                ..setup.drive.clone()
            };
            (setup.judged, setup.trains_itself) = (None, false);
            setup.recipe = trained.of.clone();
            setup.trained = Some(trained);
        });
    }
}

/// Whether a skeleton has a joint for each of so many control points, and for no others.
fn leads(skeleton: &SkeletonFile, points: usize) -> bool {
    let mut controls: Vec<usize> = skeleton
        .joints
        .iter()
        .filter_map(|joint| joint.control)
        .collect();
    controls.sort_unstable();
    controls.dedup();
    controls.into_iter().eq(0..points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_roles_by_their_endings() {
        let role = |name: &str| Role::of(Path::new(name));
        assert_eq!(
            (role("a.SafeTensors"), role("b.json")),
            (Some(Role::Model), Some(Role::Skeleton))
        );
        assert_eq!(
            ["a.c3d", "b.bvh", "c.csv", "d.npy"].map(role),
            [Some(Role::Capture); 4]
        );
        assert_eq!(
            (role("pose.obj"), role("notes.txt"), role("none")),
            (Some(Role::Example), None, None)
        );
    }

    #[test]
    fn poses_of_another_mesh_are_left_out_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let save = |specimen: &str, name: &str| {
            let path = folder.path().join(name);
            pliant::io::save(&pliant::load(specimen).unwrap(), &path).unwrap();
            path
        };
        let files = [
            save("specimen:bar", "bar.obj"),
            save("specimen:tapir", "tapir.obj"),
            save("specimen:bar", "again.obj"),
        ];
        let found = Examples::in_files(&files, None, folder.path());
        assert_eq!(found.sources.len(), 2);
        assert!(
            found.declined.len() == 1 && found.declined[0].contains("tapir.obj"),
            "{found:?}"
        );
        let found = Examples::in_files(&files, Some("specimen:tapir"), folder.path());
        assert_eq!(
            found.sources,
            [files[1].to_str().unwrap()],
            "those that are there already decide"
        );
    }

    #[test]
    fn a_file_that_is_no_model_is_told_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.safetensors");
        assert!(
            Loaded::read(&path)
                .unwrap_err()
                .contains("'odd.safetensors' cannot be read")
        );
        std::fs::write(&path, b"nothing").unwrap();
        assert!(
            Loaded::read(&path)
                .unwrap_err()
                .contains("'odd.safetensors' is no model that can be driven")
        );
    }

    #[test]
    fn a_skeleton_leads_as_many_points_as_it_has_joints_for() {
        let skeleton = super::super::hand_skeleton();
        assert!(leads(&skeleton, 22) && !leads(&skeleton, 21) && !leads(&skeleton, 23));
    }
}
