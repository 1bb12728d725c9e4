//! Files that become examples, or models that were trained elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::io::{Format, is_marker_file};
use pliant::learn::Model;
use pliant::recipes::SkeletonFile;

use super::poses::PoseSet;
use crate::engine::arrivals::{FileQueue, path_text, summary};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::library::load_asset;
use crate::engine::work::Task;
use crate::model::blob::Blob;
use crate::model::document::{Document, Locator};
use crate::model::learn::{Details, Drive, DrivenBy, Trained, TrainingSettings};
use crate::model::names::{shown, to_message};
use crate::model::project::absolute;

/// The role of a file in the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
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
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_lowercase();
        match &*ending {
            "safetensors" => Some(Self::Model),
            "json" | "toml" => Some(Self::Skeleton),
            "npy" => Some(Self::Capture),
            _ if is_marker_file(path) => Some(Self::Capture),
            _ => Format::of(path)
                .filter(|format| format.can_read())
                .map(|_| Self::Example),
        }
    }
}

/// Files in progress.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    examples: FileQueue<PathBuf, Examples>,
    model: Option<Task<LoadedModel>>,
}

/// Poses, and declined files.
#[derive(Debug, Default)]
struct Examples {
    sources: Vec<Locator>,
    declined: Vec<String>,
}

/// A model that was read.
#[derive(Debug)]
struct LoadedModel {
    name: String,
    vertices: usize,
    trained: Trained,
}

/// What arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrivalKind {
    /// Poses.
    Examples,
    /// A model.
    Model,
}

impl Arrivals {
    /// Takes a file with poses; it is looked into before the next frame.
    pub(crate) fn take_example(&mut self, path: PathBuf) {
        self.examples.push(path);
    }

    /// Reads a model.
    pub(crate) fn take_model(&mut self, path: PathBuf, cx: &Cx<'_>) {
        self.model = Some(Task::start("Reading a model", cx.wake.clone(), move |_| {
            LoadedModel::read(&path)
        }));
    }

    /// Whether files are being looked into.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.examples.busy() || self.model.is_some()
    }

    /// Inspects files and adds them to the document. Returns what arrived.
    pub(crate) fn update(
        &mut self,
        poses: Option<&Arc<PoseSet>>,
        cx: &mut Cx<'_>,
    ) -> Option<ArrivalKind> {
        self.examples.start(cx, |files| {
            let folder = absolute(cx.library.folder());
            // The first source decides which meshes fit.
            let first = cx.document.learn.recipe.sources.first().cloned();
            move || Examples::in_files(&files, first.as_deref(), &folder)
        });

        // A model goes first: it replaces the setup that examples would join.
        match Task::finished(&mut self.model) {
            None => {}
            Some(Err(message)) => cx.notify(Notice::error(message)),
            Some(Ok(loaded)) => {
                loaded.keep(poses, cx);
                return Some(ArrivalKind::Model);
            }
        }

        let found = self.examples.fetch(cx)?;
        found.keep(cx).then_some(ArrivalKind::Examples)
    }
}

impl Examples {
    /// Files whose mesh is that of `first`, or of the first of them.
    fn in_files(files: &[PathBuf], first: Option<&str>, folder: &Path) -> Self {
        let counted = |locator: &str| {
            let mesh = load_asset(locator, folder)
                .and_then(|asset| asset.mesh())
                .map_err(to_message)?;
            Ok::<_, String>([mesh.vertex_count(), mesh.face_count()])
        };

        // The examples of the document define the mesh; without any, the first file does.
        let mut expected = first.and_then(|first| counted(first).ok());
        let mut found = Self::default();
        for path in files {
            let text = match path_text(path) {
                Ok(text) => text,
                Err(message) => {
                    found.declined.push(message);
                    continue;
                }
            };
            match counted(text) {
                Err(message) => found.declined.push(message),
                Ok(counts) if *expected.get_or_insert(counts) == counts => {
                    found.sources.push(text.to_owned())
                }
                Ok([vertices, faces]) => {
                    let [known, known_faces] = expected.unwrap_or_default();
                    let name = shown(path);
                    found.declined.push(format!(
                        "'{name}' was left out because it has {vertices} vertices and {faces} faces, and the examples have \
                         {known} and {known_faces}; all examples must be poses of one mesh."
                    ));
                }
            }
        }
        found
    }

    /// Applies the result as one step with one notice; returns whether there was something.
    fn keep(self, cx: &mut Cx<'_>) -> bool {
        let Self { sources, declined } = self;
        let names: Vec<String> = sources
            .iter()
            .map(|source| shown(Path::new(source)))
            .collect();
        let done = (!names.is_empty()).then(|| format!("Added the examples {}.", names.join(", ")));
        cx.notify(summary(done.as_slice(), &declined));

        if sources.is_empty() {
            return false;
        }

        // A file may have changed since it was loaded last.
        for source in &sources {
            cx.library.reload(source);
        }
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

impl LoadedModel {
    fn read(path: &Path) -> Result<Self, String> {
        let name = shown(path);
        let bytes =
            std::fs::read(path).map_err(|error| format!("'{name}' cannot be read: {error}."))?;
        let model = Model::from_bytes(&bytes)
            .map_err(|error| format!("'{name}' is not a trained model: {error}."))?;
        let options = model.options();

        // The settings are restored from the model as far as it stores them.
        let of = TrainingSettings {
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
            ..TrainingSettings::default()
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

    /// The model replaces the setup; examples of the same mesh stay.
    fn keep(self, poses: Option<&Arc<PoseSet>>, cx: &mut Cx<'_>) {
        let Self {
            name,
            vertices,
            mut trained,
        } = self;

        // Examples of the same mesh stay in the list, so that the model can be trained again.
        if poses.is_some_and(|poses| poses.mesh.vertex_count() == vertices) {
            let TrainingSettings {
                sources,
                rest,
                left_out,
                ..
            } = cx.document.learn.recipe.clone();
            trained.of = TrainingSettings {
                sources,
                rest,
                left_out,
                ..trained.of
            };
        }

        cx.notify(Notice::done(format!(
            "Loaded the model {name} with {} control points.",
            trained.of.points.len()
        )));

        cx.edit("Load model", move |document: &mut Document| {
            let setup = &mut document.learn;
            let points = trained.of.points.len();
            setup
                .skeleton
                .take_if(|skeleton| !has_joint_per_point(skeleton, points));

            // Effectors need a skeleton; without one the points are dragged.
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

/// Whether a skeleton has exactly one joint for each control point.
pub(super) fn has_joint_per_point(skeleton: &SkeletonFile, points: usize) -> bool {
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
    fn the_ending_of_a_file_determines_its_role() {
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
    fn poses_of_another_mesh_are_declined_by_name() {
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

        // With poses in the list already, theirs is the connectivity that counts.
        let found = Examples::in_files(&files, Some("specimen:tapir"), folder.path());
        assert_eq!(
            found.sources,
            [files[1].to_str().unwrap()],
            "those that are there already decide"
        );
    }

    #[test]
    fn a_file_that_is_not_a_model_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.safetensors");
        assert!(
            LoadedModel::read(&path)
                .unwrap_err()
                .contains("'odd.safetensors' cannot be read")
        );

        std::fs::write(&path, b"nothing").unwrap();
        assert!(
            LoadedModel::read(&path)
                .unwrap_err()
                .contains("'odd.safetensors' is not a trained model")
        );
    }

    #[test]
    fn a_skeleton_fits_a_model_with_one_joint_per_control_point() {
        let skeleton = crate::model::learn::hand_skeleton();
        assert!(
            has_joint_per_point(&skeleton, 22)
                && !has_joint_per_point(&skeleton, 21)
                && !has_joint_per_point(&skeleton, 23)
        );
    }
}
