//! Workers of the Learn room.
//!
//! - `poses`: the example poses of all sources.
//! - `pose_cache`: example poses, loaded once for the same sources.
//! - `training`: suggested control points, training, leave-one-out validation.
//! - `driver`: the mesh that a model gives for moving control points.
//! - `capture`: captured markers as control points over time.
//! - `arrivals`: files that become examples or a model.

pub(crate) mod arrivals;
pub(crate) mod capture;
pub(crate) mod driver;
pub(crate) mod pose_cache;
pub(crate) mod poses;
pub(crate) mod training;
