//! Arguments that several commands share, with their parsers.
//!
//! - [`bake`]: `--bake`, how a clip is stored as targets
//! - [`cage`]: `--cage`, the number of cage vertices of a blend
//! - [`capture`]: how a file of markers becomes the control points of a model
//! - [`file_conflicts`]: outputs that would replace an input or another output
//! - [`number`]: numbers with a range
//! - [`obstacle`]: `--obstacle` and `--collider`, a solid in numbers or a file
//! - [`pin`]: `--pin` and its kinds
//! - [`place`]: a vertex by its number or by the name of a landmark
//! - [`plane`]: the symmetry plane that commands mirror or split at
//! - [`performance`]: the clock and the cleaning of a performance, gains of its routes
//! - [`pose_solver`]: the method that poses a rig, and the settings of the rig
//! - [`prior`]: `--prior`, the clip that plausible poses are learnt from
//! - [`recipe_file`]: the text and the folder of a recipe
//! - [`settings`]: `--settings`, the settings of a rig
//! - [`slider_weights`]: weights by slider name, in files and on the command line
//! - [`source`]: the assets that commands read
//! - [`stiffness`]: `--stiffness`, a file of numbers or vertex colours
//! - [`stroke_file`]: strokes and stroke libraries
//! - [`target_normals`]: `--no-target-normals`, for smaller glTF files
//! - [`touch_material`]: the material of a soft patch
//! - [`touch_method`]: the simulation of a soft patch
//! - [`vertex`]: vertices, alone and with a displacement, a position or a radius
//! - [`view`]: `--view` and `--camera`, from where a picture is seen

pub(crate) mod bake;
pub(crate) mod cage;
pub(crate) mod capture;
pub(crate) mod file_conflicts;
pub(crate) mod number;
pub(crate) mod obstacle;
pub(crate) mod performance;
pub(crate) mod pin;
pub(crate) mod place;
pub(crate) mod plane;
pub(crate) mod pose_solver;
pub(crate) mod prior;
pub(crate) mod recipe_file;
pub(crate) mod settings;
pub(crate) mod slider_weights;
pub(crate) mod source;
pub(crate) mod stiffness;
pub(crate) mod stroke_file;
pub(crate) mod target_normals;
pub(crate) mod touch_material;
pub(crate) mod touch_method;
pub(crate) mod vertex;
pub(crate) mod view;
