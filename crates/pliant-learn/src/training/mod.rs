//! Input of a training: examples, options, and quantities that all methods derive from them.
//!
//! - `examples`: the poses of the mesh used for training.
//! - `options`: the method and its parameters.
//! - `local_settings`: hyper-parameters of the local blend, which selection chooses.
//! - `training_data`: deformation gradients, regions and alignments of all examples.
//! - `folds`: which examples a validation inside the training set leaves out.
//! - `training_log`: results of a training, stored so that a cancelled one can resume.

mod examples;
mod folds;
mod local_settings;
mod options;
mod training_data;
mod training_log;

pub use examples::Examples;
pub(crate) use folds::folds;
pub use local_settings::LocalSettings;
pub use options::{LearnOptions, Method};
pub(crate) use training_data::{TRIANGLES_PER_TASK, TrainingData};
pub use training_log::TrainingLog;
