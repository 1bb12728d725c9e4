//! New animations from parts of other meshes' animations.
//!
//! A [`Source`] is a clip and a [`TriangleMap`] from its mesh to the target. A [`Layer`] brings
//! part of a source's clip to part of the target, [`blend_weights`] soften the border of that part,
//! and a [`Synthesis`] computes the target's vertices frame by frame.
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

mod alignment;
mod blend;
mod blend_weights;
mod branch_forest;
mod centroid_map;
mod closure;
mod compatible_triangles;
mod contact_pairs;
mod correspondence;
mod dual_graph;
mod entanglement;
mod error;
mod extent;
mod fairing;
mod flexibility;
mod foot_contacts;
mod landmarks;
mod layer;
mod least_squares_mesh;
mod loose_parts;
mod map_report;
mod marker_check;
mod marker_file;
mod marker_mirror;
mod marker_prediction;
mod marker_suggestion;
mod markers;
mod named_entries;
mod near_vertex;
mod partition;
mod placement;
mod planted_feet;
mod planting;
mod polar_lanes;
mod pose_modification;
mod probe;
mod reconstruction;
mod registration;
mod rig_transfer;
mod root_motion;
mod similarity;
mod slit;
mod still_region;
mod stroke;
mod surface_map;
mod synthesis;
#[cfg(test)]
mod test_shapes;
mod triangle_map;

pub use alignment::{Alignment, AlignmentCandidate, align};
pub use blend::{blend_gradients, mean_gradient};
pub use blend_weights::{BLEND_CONSTRAINT_WEIGHT, DEFAULT_BAND, blend_weights, geodesic_band};
pub use compatible_triangles::nearest_compatible_triangles;
pub use correspondence::{Correspondence, CorrespondenceMethod, CorrespondenceOptions, Gate};
pub use entanglement::{Entanglement, Parting};
pub use error::TransferError;
pub use flexibility::Flexibility;
pub use foot_contacts::{ContactOptions, FootContacts};
pub use landmarks::Landmarks;
pub use layer::{Layer, LayerMode};
pub use least_squares_mesh::{MARKER_WEIGHT, least_squares_mesh};
pub use map_report::MapReport;
pub use marker_check::{MarkerCheck, MarkerCoverage, MarkerFlaw, MarkerVerdict, check_markers};
pub use marker_file::MarkerFormat;
pub use marker_mirror::{MirroredMarkers, mirror_markers, symmetry_plane};
pub use marker_suggestion::{MarkerSuggestion, MarkerSuggestions, suggest_markers};
pub use markers::Markers;
pub use partition::{Membership, Partitions};
pub use planted_feet::FeetReport;
pub use pose_modification::PoseModification;
pub use reconstruction::{Reconstruction, ReconstructionForm, ReconstructionWorkspace};
pub use registration::{RegistrationOptions, register};
pub use rig_transfer::{RigTransfer, RigTransferOptions, ShapeReport, TransferredRig};
pub use root_motion::RootMotion;
pub use similarity::Similarity;
pub use stroke::stroke_triangles;
pub use synthesis::{Motion, Source, Synthesis, SynthesisOptions};
pub use triangle_map::TriangleMap;
