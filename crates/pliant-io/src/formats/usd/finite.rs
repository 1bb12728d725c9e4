//! Numbers of a stage that are NaN or infinite, in the properties that are read.
//!
//! **Departures.** Properties that no reader uses may be infinite: limits of joints and the extent of
//! an empty mesh are.

use std::collections::HashSet;
use std::ptr;

use super::layer::{Property, PropertyValue, Value};
use super::stage::Stage;
use crate::parse::finite::NotFinite;

/// The properties that are read, besides those with one of [`PREFIXES`].
const NAMES: [&str; 13] = [
    "points",
    "normals",
    "offsets",
    "normalOffsets",
    "bindTransforms",
    "restTransforms",
    "translations",
    "rotations",
    "scales",
    "blendShapeWeights",
    "weight",
    "faceVertexCounts",
    "faceVertexIndices",
];

const PREFIXES: [&str; 3] = ["primvars:", "xformOp:", "inputs:"];

/// What times and lengths of a stage are measured in.
const UNITS: [&str; 5] = [
    "metersPerUnit",
    "timeCodesPerSecond",
    "framesPerSecond",
    "startTimeCode",
    "endTimeCode",
];

/// Notes numbers that are not finite.
pub(super) fn check(stage: &Stage<'_>, found: &NotFinite) {
    for unit in UNITS {
        found.check(stage.number(unit), format_args!("'{unit}'"));
    }

    // Instances share the prims of what they show.
    let mut seen = HashSet::new();
    for node in &stage.nodes {
        if !seen.insert(ptr::from_ref(node.prim)) {
            continue;
        }
        for property in node.prim.properties.iter().filter(|p| is_read(p)) {
            if !is_finite(&property.value) {
                let path = node.path.escape_debug();
                let name = property.name.escape_debug();
                found.note(format_args!("'{name}' of prim '{path}'"));
            }
        }
    }
}

fn is_read(property: &Property) -> bool {
    let name = property.name.as_str();
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn is_finite(value: &PropertyValue) -> bool {
    let numbers = |value: &Value| {
        let numbers = value.numbers().unwrap_or_default();
        numbers.iter().all(|number| number.is_finite())
    };
    match value {
        PropertyValue::Constant(value) => numbers(value),
        PropertyValue::Samples(samples) => samples
            .iter()
            .all(|(code, value)| code.is_finite() && numbers(value)),
    }
}
