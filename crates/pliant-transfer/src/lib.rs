//! Animation transfer: new animations of a mesh from parts of other meshes' animations.
//!
//! [`Markers`] and the two shapes give a [`Correspondence`], whose [`TriangleMap`] takes target
//! triangles to source triangles. A [`Source`] is a clip and such a map. A [`Layer`] applies frames
//! of a source to a region of the target with [`blend_weights`](blend_weights()), and a
//! [`Synthesis`] computes the target's vertices frame by frame. A [`RigTransfer`] does the same for
//! the targets of a rig.
//!
//! The modules form layers; each uses those before it: `markers`, `correspondence`, `regions`,
//! `feet`, `synthesis`, `rig`; `faces` uses `correspondence`.
//!
//! ```
//! use std::borrow::Cow;
//! use pliant_mesh::{glam::DVec3, shapes};
//! use pliant_rig::Clip;
//! use pliant_transfer::{Layer, Source, Synthesis, SynthesisOptions, TriangleMap};
//!
//! // A sheet rises at one end; a sheet twice as large does the same.
//! let sheet = shapes::bumpy_sheet(4, 0.1);
//! let rise = sheet.positions().iter().map(|p| *p + DVec3::Z * p.x * p.x).collect();
//! let clip = Clip::new("rise", sheet.clone(), vec![rise])?;
//! let target = sheet.posed(sheet.positions().iter().map(|p| *p * 2.0).collect())?;
//!
//! let triangles = target.triangles().len();
//! let source = Source { clip: &clip, map: Cow::Owned(TriangleMap::identity(triangles)) };
//! let layer = Layer::whole(0, vec![1.0; triangles], clip.frames().len());
//! let mut synthesis = Synthesis::new(&target, vec![source], vec![layer], SynthesisOptions::default())?;
//! let frame = synthesis.frame(0);
//! assert!(frame.iter().zip(&clip.frames()[0]).all(|(large, small)| large.distance(*small * 2.0) < 1e-12));
//! # Ok::<(), pliant_transfer::TransferError>(())
//! ```

mod correspondence;
mod error;
mod extent;
mod faces;
mod feet;
mod markers;
mod regions;
mod rig;
mod root_motion;
mod similarity;
mod synthesis;
#[cfg(test)]
mod test_shapes;

pub use correspondence::{
    Alignment, AlignmentCandidate, BadMapPolicy, Correspondence, CorrespondenceMethod,
    CorrespondenceOptions, MARKER_WEIGHT, MapReport, MarkerSuggestion, MarkerSuggestions,
    RegistrationOptions, TriangleMap, align, least_squares_mesh, nearest_compatible_triangles,
    register, suggest_markers,
};
pub use error::TransferError;
pub use faces::{FaceFit, FaceTemplate, find_landmarks};
pub use feet::{FootContactOptions, FootContactReport, FootContacts};
pub use markers::{
    Landmarks, MarkerAssessment, MarkerCheck, MarkerCoverage, MarkerFlaw, MarkerFormat, Markers,
    MirroredMarkers, check_markers, mirror_markers, symmetry_plane,
};
pub use regions::{
    BLEND_CONSTRAINT_WEIGHT, BorderBand, DEFAULT_BAND, Flexibility, Membership, Partitions,
    RegionSelection, StiffnessThreshold, blend_weights, geodesic_band, stroke_triangles,
};
pub use rig::{
    ContactReport, Retargeted, RigTransfer, RigTransferOptions, ShapeReport, TransferredRig,
    contact_points, contact_report, retarget, retarget_options,
};
pub use root_motion::RootMotion;
pub use similarity::Similarity;
pub use synthesis::{
    Layer, LayerMode, Motion, PoseModification, Reconstruction, ReconstructionWeighting,
    ReconstructionWorkspace, SelfIntersectionRemoval, SelfIntersectionReport, Source, Synthesis,
    SynthesisOptions, blend_gradients, mean_gradient,
};
