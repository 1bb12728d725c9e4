//! Skinning decompositions.

use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray2, PyArray3, PyArray4, PyArrayMethods, PyReadonlyArray4,
    PyUntypedArrayMethods,
};
use pliant::io::{SkinBinding, SkinTrack};
use pliant::learn::{BoneKind, Influence, Skin, SkinOptions, SkinningDecomposition};
use pliant::mesh::glam::DAffine3;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, affine_of, affine_rows, points_array, poses_array, rows_array};
use crate::asset::Asset;
use crate::clip::Clip;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::report::choice;
use crate::work::{run, run_long, run_unwatched};

/// Bones, skinning weights and motions that reproduce a clip.
///
/// >>> bend = pliant.load("specimen:bar:coarse#bend").clip()
/// >>> bones = pliant.Bones(bend, bones=4)
/// >>> bones.weights.shape == (bend.reference.vertex_count, 4), bones.transforms.shape[1:]
/// (True, (4, 4, 4))
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Bones {
    bones: Arc<SkinningDecomposition>,
    reference: Mesh,
}

impl Bones {
    fn require_own(&self, clip: &Clip) -> Result<(), Failure> {
        let [vertices, expected] =
            [&clip.clip.reference(), &&*self.reference.mesh].map(|mesh| mesh.vertex_count());
        let [frames, own] = [clip.clip.frames().len(), self.bones.transforms.len()];
        if vertices == expected && frames == own {
            return Ok(());
        }
        Err(input_error(format!(
            "clip has {frames} frames of {vertices} vertices, but the bones are of {own} frames of {expected}; give their own clip"
        )))
    }
}

/// Reference, weights, motions, error, rounds and warnings of pickled bones.
type BonesState<'py> = (
    Mesh,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray4<f64>>,
    f64,
    usize,
    Vec<String>,
);

#[pymethods]
impl Bones {
    #[new]
    #[pyo3(signature = (clip, *, bones=SkinOptions::DEFAULT_BONES, influences=SkinOptions::DEFAULT_INFLUENCES, kind="rigid", smoothness=0.0, rounds=SkinOptions::DEFAULT_ROUNDS, progress=None))]
    fn new(
        py: Python<'_>,
        clip: &Clip,
        bones: usize,
        influences: usize,
        kind: &str,
        smoothness: f64,
        rounds: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let kinds = [("rigid", BoneKind::Rigid), ("affine", BoneKind::Affine)];
        let options = SkinOptions::default()
            .with_bones(bones)
            .with_influences(influences)
            .with_kind(choice("kind", kind, &kinds)?)
            .with_smoothness(smoothness)
            .with_rounds(rounds);
        let moving = Arc::clone(&clip.clip);
        let bones = run_long(py, progress, move |progress| {
            Ok(SkinningDecomposition::of_with_progress(
                &moving, &options, progress,
            )?)
        })?;
        Ok(Self {
            bones: Arc::new(bones),
            reference: Mesh::of(clip.clip.reference().clone()),
        })
    }

    /// The root mean square distance from the clip, in its units.
    #[getter]
    fn rms(&self) -> f64 {
        self.bones.rms
    }

    /// Rounds of the fit.
    #[getter]
    fn rounds(&self) -> usize {
        self.bones.rounds
    }

    /// Warnings, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.bones.warnings.clone()
    }

    /// Skinning weights: (n, bones).
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let skin = &self.bones.skin;
        let mut all = vec![0.0; skin.vertex_count() * skin.bone_count()];
        for vertex in 0..skin.vertex_count() {
            for influence in skin.influences(vertex) {
                all[vertex * skin.bone_count() + influence.bone as usize] = influence.weight;
            }
        }
        Ok(all
            .into_pyarray(py)
            .reshape([skin.vertex_count(), skin.bone_count()])?)
    }

    /// Motions of the bones from the reference: (frames, bones, 4, 4).
    #[getter]
    fn transforms<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray4<f64>>, Failure> {
        let frames = &self.bones.transforms;
        let all: Vec<f64> = frames.iter().flatten().flat_map(affine_rows).collect();
        Ok(all
            .into_pyarray(py)
            .reshape([frames.len(), self.bones.bone_count(), 4, 4])?)
    }

    /// The clip that bones and weights give: (frames, n, 3).
    fn reconstruction<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        let frames = run(py, || {
            Ok(self.bones.reconstruction(self.reference.mesh.positions()))
        })?;
        poses_array(py, &frames, self.reference.mesh.vertex_count())
    }

    /// Targets in addition to the bones, at most `count`, and their weights: deltas (k, n, 3) in the reference
    /// pose, weights (frames, k), and the RMS error with them. `clip` is the clip that was decomposed.
    #[expect(clippy::type_complexity, reason = "a tuple of arrays")]
    fn correctives<'py>(
        &self,
        py: Python<'py>,
        clip: &Clip,
        count: usize,
    ) -> Result<(Bound<'py, PyArray3<f32>>, Bound<'py, PyArray2<f64>>, f64), Failure> {
        self.require_own(clip)?;
        let bones = Arc::clone(&self.bones);
        let clip = Arc::clone(&clip.clip);
        let shapes = run_unwatched(py, move || Ok(bones.correctives(&clip, count)?))?;
        let vertices = self.reference.mesh.vertex_count();
        let mut deltas: Vec<f32> = Vec::with_capacity(shapes.targets.len() * vertices * 3);
        for target in &shapes.targets {
            deltas.extend(target.to_dense(vertices).iter().flat_map(|d| d.to_array()));
        }
        let deltas = deltas
            .into_pyarray(py)
            .reshape([shapes.targets.len(), vertices, 3])?;
        let weights = rows_array(py, &shapes.weights, shapes.targets.len())?;
        Ok((deltas, weights, shapes.rms))
    }

    /// The skinned mesh with its skeleton and its animation, to be saved as GLB. `clip` is the clip that was
    /// decomposed.
    fn to_asset(&self, py: Python<'_>, clip: &Clip) -> Result<Asset, Failure> {
        self.require_own(clip)?;
        let asset = run(py, || {
            let rest = self.reference.mesh.positions();
            let track = SkinTrack {
                binding: SkinBinding {
                    skin: Arc::new(self.bones.skin.clone()),
                    skeleton: Arc::new(self.bones.skeleton(rest)),
                },
                motions: Arc::new(self.bones.transforms.clone()),
            };
            let asset = pliant::io::Asset::from_clip(&clip.clip);
            let animation = asset.only_clip()?.clone();
            Ok(asset.with_shaped_skin_clip(animation, &track, &[], &[])?)
        })?;
        Ok(Asset::of(asset))
    }

    /// A skeleton: names, parents (or `None`) and origins of the joints.
    fn skeleton<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let skeleton = run(py, || {
            Ok(self.bones.skeleton(self.reference.mesh.positions()))
        })?;
        let joints = skeleton.joints();
        let found = PyDict::new(py);
        found.set_item(
            "names",
            joints
                .iter()
                .map(|joint| joint.name.clone())
                .collect::<Vec<_>>(),
        )?;
        found.set_item(
            "parents",
            joints.iter().map(|joint| joint.parent).collect::<Vec<_>>(),
        )?;
        found.set_item(
            "origins",
            points_array(py, joints.iter().map(|joint| joint.origin).collect())?,
        )?;
        Ok(found)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<(Bound<'py, PyAny>, BonesState<'py>), Failure> {
        let make = py.get_type::<Self>().getattr("_restored")?;
        let state = (
            self.reference.clone(),
            self.weights(py)?,
            self.transforms(py)?,
            self.bones.rms,
            self.bones.rounds,
            self.bones.warnings.clone(),
        );
        Ok((make, state))
    }

    /// What `__reduce__` stored.
    #[staticmethod]
    fn _restored(
        reference: Mesh,
        weights: &Bound<'_, PyAny>,
        transforms: PyReadonlyArray4<'_, f64>,
        rms: f64,
        rounds: usize,
        warnings: Vec<String>,
    ) -> Result<Self, Failure> {
        let wrong = || input_error("these are no stored bones");
        let weights = arrays::rows("weights", weights)?;
        let [_, bones, 4, 4] = *transforms.shape() else {
            return Err(wrong());
        };
        let influences = weights.iter().map(|row| {
            let bones = row.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
            bones
                .map(|(bone, &weight)| Influence {
                    bone: bone as u32,
                    weight,
                })
                .collect()
        });
        let skin = Skin::new(bones, influences.collect::<Vec<_>>())?;
        if skin.vertex_count() != reference.mesh.vertex_count() {
            return Err(wrong());
        }
        let matrices: Vec<DAffine3> = transforms.as_slice()?.chunks(16).map(affine_of).collect();
        let frames = matrices.chunks(bones.max(1)).map(<[_]>::to_vec);
        Ok(Self {
            bones: Arc::new(SkinningDecomposition::from_parts(
                skin,
                frames.collect(),
                rms,
                rounds,
                warnings,
            )?),
            reference,
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Bones: {} bones, rms {:.3e}>",
            self.bones.bone_count(),
            self.bones.rms
        )
    }
}
