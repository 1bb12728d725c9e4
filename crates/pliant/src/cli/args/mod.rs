//! Arguments that several commands share, with their parsers.
//!
//! - [`cage`]: `--cage`, the number of cage vertices of a blend
//! - [`capture`]: how a file of markers becomes the control points of a model
//! - [`number`]: numbers with a range
//! - [`obstacle`]: `--obstacle` and `--collider`, a solid in numbers or a file
//! - [`plane`]: the symmetry plane that commands mirror or split at
//! - [`pose_solver`]: the method that poses a rig, and the settings of the rig
//! - [`recipe_file`]: the text and the folder of a recipe
//! - [`slider_weights`]: weights by slider name, in files and on the command line
//! - [`source`]: the assets that commands read
//! - [`stiffness`]: `--stiffness`, a file of numbers or vertex colours
//! - [`stroke_file`]: strokes and stroke libraries
//! - [`touch_material`]: the material of a soft patch
//! - [`touch_method`]: the simulation of a soft patch
//! - [`vertex`]: vertices, alone and with a displacement, a position or a radius

pub(crate) mod cage;
pub(crate) mod capture;
pub(crate) mod number;
pub(crate) mod obstacle;
pub(crate) mod plane;
pub(crate) mod pose_solver;
pub(crate) mod recipe_file;
pub(crate) mod slider_weights;
pub(crate) mod source;
pub(crate) mod stiffness;
pub(crate) mod stroke_file;
pub(crate) mod touch_material;
pub(crate) mod touch_method;
pub(crate) mod vertex;
