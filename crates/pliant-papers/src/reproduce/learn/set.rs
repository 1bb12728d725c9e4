//! Sets of examples with their control points.

use pliant_learn::{
    ControlPoints, Examples, LearnError, LearnOptions, Method, Model, suggest_control_points,
};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{DecimationBudget, DecimationOptions, Mesh, VertexPlacement};
use pliant_rig::Clip;
use pliant_view::{Image, Look, Marker, Shot, View, ViewError};

use super::{Data, ReproduceError, failed};
use crate::subjects::hand;

/// Larger meshes are reduced to this many vertices, so that the page is computed in minutes.
const MOST_VERTICES: usize = 8000;
/// Longer clips are reduced to this many evenly spaced frames.
const MOST_FRAMES: usize = 12;

/// A set of the data folder.
pub(super) struct Shared {
    name: &'static str,
    pub(super) locator: &'static str,
    /// Chosen for sets of this kind; *Huang et al. 2012* use 8 to 26 control points.
    points: usize,
    view: View,
}

pub(super) const SHARED: [Shared; 4] = [
    Shared {
        name: "horse",
        locator: "horse-camel/horse-poses.reference.obj+horse-camel/horse-poses.frames.npy",
        points: 20,
        view: View::Orbit {
            azimuth_rad: 1.05,
            elevation_rad: 0.12,
        },
    },
    Shared {
        name: "face",
        locator: "face-poses/face-poses.reference.obj+face-poses/face-poses.frames.npy",
        points: 30,
        view: View::Orbit {
            azimuth_rad: 0.3,
            elevation_rad: 0.04,
        },
    },
    Shared {
        name: "dancer",
        locator: "samba/samba-every7th.reference.obj+samba/samba-every7th.frames.npy",
        points: 20,
        view: View::Orbit {
            azimuth_rad: 0.4,
            elevation_rad: 0.1,
        },
    },
    Shared {
        name: "cow",
        locator: "elastic-cow/elastic-cow-every4th.reference.obj+elastic-cow/elastic-cow-every4th.frames.npy",
        points: 20,
        view: View::Orbit {
            azimuth_rad: 0.9,
            elevation_rad: 0.15,
        },
    },
];

/// Examples and control points.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) examples: Examples,
    pub(super) control: ControlPoints,
    view: View,
}

impl Set {
    /// The built-in hand with control points on its back.
    pub(super) fn hand() -> Result<Self, ReproduceError> {
        let examples = Examples::from_clip(&pliant_specimens::load("specimen:hand")?.clip()?)
            .map_err(failed("hand"))?;
        let control = hand::control(examples.reference()).map_err(failed("hand"))?;

        Ok(Self {
            name: "hand".to_owned(),
            examples,
            control,
            view: View::Orbit {
                azimuth_rad: 0.55,
                elevation_rad: 0.25,
            },
        })
    }

    /// The sets of the data folder.
    pub(super) fn shared(data: &Data) -> Result<Vec<Self>, ReproduceError> {
        let mut sets = Vec::new();
        for shared in &SHARED {
            if let Some(asset) = data.asset(shared.locator)? {
                sets.push(Self::reduced(shared, &asset.clip()?).map_err(failed(shared.name))?);
            }
        }
        Ok(sets)
    }

    fn reduced(shared: &Shared, clip: &Clip) -> Result<Self, LearnError> {
        let (mesh, kept) = reduced(clip.reference())?;
        // Evenly spaced frames differ more than consecutive ones.
        let count = clip.frames().len().min(MOST_FRAMES);
        let chosen: Vec<usize> = (0..count)
            .map(|k| k * clip.frames().len() / count)
            .collect();
        let frames = chosen
            .iter()
            .map(|&k| kept.iter().map(|&v| clip.frames()[k][v as usize]).collect())
            .collect();

        let names = chosen
            .iter()
            .map(|&k| {
                clip.frame_names()
                    .get(k)
                    .cloned()
                    .unwrap_or_else(|| k.to_string())
            })
            .collect();

        let examples = Examples::new(mesh, frames, names)?;
        let control = suggest_control_points(examples.reference(), shared.points)?;
        Ok(Self {
            name: shared.name.to_owned(),
            examples,
            control,
            view: shared.view,
        })
    }

    /// The frame of a pose, counted without the reference.
    ///
    /// # Panics
    /// If no pose has this name.
    pub(super) fn frame(&self, name: &str) -> usize {
        self.examples
            .names()
            .iter()
            .position(|known| known == name)
            .expect("a pose of the set")
    }

    /// The true pose of a frame.
    pub(super) fn truth(&self, frame: usize) -> &[DVec3] {
        self.examples.pose(frame + 1)
    }

    /// A model of all frames but one.
    pub(super) fn without(
        &self,
        frame: usize,
        options: &LearnOptions,
    ) -> Result<Model, ReproduceError> {
        let kept = || (0..self.examples.names().len()).filter(|&k| k != frame);
        let frames = kept().map(|k| self.truth(k).to_vec()).collect();
        let names = kept().map(|k| self.examples.names()[k].clone()).collect();
        let examples = Examples::new(self.examples.reference().clone(), frames, names)
            .map_err(failed(&self.name))?;
        Model::train(examples, self.control.clone(), options, &()).map_err(failed(&self.name))
    }

    /// The prediction of a frame by a model without it.
    pub(super) fn left_out(
        &self,
        frame: usize,
        method: Method,
    ) -> Result<Vec<DVec3>, ReproduceError> {
        let model = self.without(frame, &LearnOptions::default().with_method(method))?;
        model
            .drive(&self.control.at(self.truth(frame)))
            .map_err(failed(&self.name))
    }

    /// RMS distance from a frame in thousandths of the longest side.
    pub(super) fn thousandths(&self, found: &[DVec3], frame: usize) -> f64 {
        1e3 * self.examples.error(found, frame + 1)
    }

    /// A picture of a pose, framed by `in_view`.
    pub(super) fn picture(
        &self,
        positions: &[DVec3],
        in_view: &[DVec3],
        size: [usize; 2],
    ) -> Result<Image, ViewError> {
        self.picture_with(positions, in_view, size, Vec::new())
    }

    /// As [`picture`](Self::picture), with dots.
    pub(super) fn picture_with(
        &self,
        positions: &[DVec3],
        in_view: &[DVec3],
        size: [usize; 2],
        dots: Vec<Marker>,
    ) -> Result<Image, ViewError> {
        let pose = self
            .examples
            .reference()
            .posed(positions.to_vec())
            .expect("one position per vertex");
        let mut scene = Look::default().scene(&pose);

        scene.markers = dots;
        Shot::new(self.view, size).framed_by(in_view, &scene)
    }

    /// As [`picture`](Self::picture), coloured by the distance from a frame; the colour map ends at
    /// `most` of the longest side.
    pub(super) fn error_picture(
        &self,
        positions: &[DVec3],
        frame: usize,
        most: f64,
        size: [usize; 2],
    ) -> Result<Image, ViewError> {
        let side = self.examples.longest_side();
        // Errors relative to the longest side, as in the tables.
        let errors = positions
            .iter()
            .zip(self.truth(frame))
            .map(|(found, truth)| found.distance(*truth) / side)
            .collect();

        let pose = self
            .examples
            .reference()
            .posed(positions.to_vec())
            .expect("one position per vertex");
        let look = Look::default()
            .with_scalar(errors, "")
            .with_range(0.0, most);

        let mut scene = look.scene(&pose);
        scene.legend = None; // Small pictures have no room; the caption explains the colours.
        Shot::new(self.view, size).framed_by(self.truth(frame), &scene)
    }
}

/// A mesh of at most [`MOST_VERTICES`], and the original numbers of its vertices.
fn reduced(mesh: &Mesh) -> Result<(Mesh, Vec<u32>), LearnError> {
    if mesh.vertex_count() <= MOST_VERTICES {
        return Ok((mesh.clone(), (0..mesh.vertex_count() as u32).collect()));
    }
    let options = DecimationOptions::default().with_placement(VertexPlacement::Subset);
    let few = mesh.decimated(DecimationBudget::Vertices(MOST_VERTICES), &options)?;
    Ok((few.mesh().clone(), few.sources().to_vec()))
}
