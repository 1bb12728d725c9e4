//! Foot contacts: feet that stand in the source stand still on the target.
//!
//! - [`foot_contacts`]: detects the frames and vertices of a clip that stand on the ground.
//! - [`root_correction`]: shifts the whole character so that its standing feet do not slide.
//! - [`footskate_cleanup`]: holds each standing foot in place.
//! - [`contact_runs`]: the intervals of frames in which vertices of the target stand.
//! - [`displacement_extension`]: displacements of the feet, extended smoothly to the body.

mod contact_runs;
mod displacement_extension;
mod foot_contacts;
pub(crate) mod footskate_cleanup;
pub(crate) mod root_correction;

pub use foot_contacts::{FootContactOptions, FootContacts};
pub use footskate_cleanup::FootContactReport;
