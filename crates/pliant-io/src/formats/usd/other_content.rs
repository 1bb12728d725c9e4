//! What a scene holds besides meshes, groups, skeletons, materials and clips.
//!
//! An [`Asset`](crate::Asset) has no fields for other kinds of prims, for properties of other programs, for
//! subdivision, visibility and most metadata. A save writes a new layer and lists them.

use std::collections::{BTreeMap, BTreeSet};

use super::layer::{Prim, Property, Value, entry};
use super::stage::Stage;
use super::write::{ADDED_ROOT, CLIP_NAME, FILE_INDEX};

/// Kinds of prims whose content an asset holds. `PointInstancer` has a warning of its own.
const HELD_KINDS: [&str; 14] = [
    "",
    "BlendShape",
    "GeomSubset",
    "Material",
    "Mesh",
    "NodeGraph",
    "PointInstancer",
    "Scope",
    "Shader",
    "SkelAnimation",
    "SkelRoot",
    "Skeleton",
    "Xform",
    "Xformable",
];

/// Properties that an asset holds, or that follow from others. Materials are described by their reader,
/// and so are the transforms of prims.
const HELD_PROPERTIES: [&str; 34] = [
    "bindTransforms",
    "blendShapeWeights",
    "blendShapes",
    "doubleSided",
    "elementType",
    "extent",
    "faceVertexCounts",
    "faceVertexIndices",
    "familyName",
    "indices",
    "jointNames",
    "joints",
    "normalOffsets",
    "normals",
    "normals:indices",
    "offsets",
    "orientation",
    "pointIndices",
    "points",
    "primvars:displayColor",
    "primvars:displayOpacity",
    "primvars:normals",
    "primvars:normals:indices",
    "restTransforms",
    "rotations",
    "scales",
    "skel:animationSource",
    "skel:blendShapeTargets",
    "skel:blendShapes",
    "skel:joints",
    "skel:skeleton",
    "subdivisionScheme",
    "translations",
    "xformOpOrder",
];

/// Beginnings of properties that an asset holds or that are listed on their own.
const HELD_PREFIXES: [&str; 7] = [
    "inbetweens:",
    "material:binding",
    "primvars:skel:",
    "skel:",
    "subsetFamily:",
    "userProperties:",
    "xformOp:",
];

/// Metadata of prims that an asset holds, that composes the scene, or that describes no content.
const HELD_METADATA: [&str; 16] = [
    "active",
    "apiSchemas",
    "displayName",
    "hidden",
    "inherits",
    "instanceable",
    "payload",
    "primOrder",
    "properties",
    "propertyOrder",
    "references",
    "specializes",
    "variantSetNames",
    "variantSets",
    "variantSetChildren",
    "variants",
];

/// Chosen: this many names are enough for a message.
const MOST_NAMES: usize = 8;

/// Describes the rest of a scene, one phrase each.
pub(super) fn phrases(stage: &Stage<'_>) -> Vec<String> {
    let mut phrases = other_kinds(stage);
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            phrases.push(format!("{count} {what}"));
        }
    };

    let prims = || stage.nodes.iter().map(|node| node.prim);
    let own = prims().flat_map(|prim| &prim.properties);
    let custom = own.filter(|property| property.name.starts_with("userProperties:"));
    add(custom.count(), "custom propert(ies)");
    add(
        prims().filter(|prim| is_subdivided(prim)).count(),
        "mesh(es) with subdivision (their cages are kept)",
    );
    add(
        prims().map(|prim| prim.variant_sets.len()).sum(),
        "variant set(s) (the selected variant is kept)",
    );
    add(
        prims().filter(|prim| refers(prim)).count(),
        "reference(s) between prims (their content is kept)",
    );

    phrases.extend(other_properties(stage));
    phrases.extend(other_metadata(stage));
    phrases
}

fn other_kinds(stage: &Stage<'_>) -> Vec<String> {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &stage.nodes {
        if !HELD_KINDS.contains(&node.prim.kind.as_str()) {
            *kinds.entry(&node.prim.kind).or_default() += 1;
        }
    }
    let kinds = kinds.iter();
    kinds
        .map(|(kind, count)| format!("{count} prim(s) of the kind '{}'", kind.escape_debug()))
        .collect()
}

/// The default of USD is subdivision.
fn is_subdivided(prim: &Prim) -> bool {
    let scheme = prim.rest("subdivisionScheme").and_then(Value::text);
    prim.kind == "Mesh" && scheme != Some("none")
}

fn refers(prim: &Prim) -> bool {
    let arcs = ["references", "payload", "inherits", "specializes"];
    arcs.iter().any(|key| entry(&prim.metadata, key).is_some())
}

/// Properties of the kinds of prims that an asset holds, by name.
fn other_properties(stage: &Stage<'_>) -> Option<String> {
    const DESCRIBED: [&str; 5] = ["", "Material", "NodeGraph", "PointInstancer", "Shader"];

    let mut names = BTreeSet::new();
    let mut prims = 0;
    for node in &stage.nodes {
        let prim = node.prim;
        if DESCRIBED.contains(&prim.kind.as_str()) || !HELD_KINDS.contains(&prim.kind.as_str()) {
            continue;
        }
        let own = prim
            .properties
            .iter()
            .filter(|property| !is_held(prim, property));
        let own: Vec<&str> = own.map(|property| property.name.as_str()).collect();
        prims += usize::from(!own.is_empty());
        names.extend(own);
    }
    (prims > 0).then(|| format!("the propert(ies) {} of {prims} prim(s)", listed(&names)))
}

fn is_held(prim: &Prim, property: &Property) -> bool {
    let name = property.name.as_str();
    let base = name.strip_suffix(":indices").unwrap_or(name);
    let base = base.strip_suffix(".connect").unwrap_or(base);
    if [ADDED_ROOT, CLIP_NAME, FILE_INDEX].contains(&base)
        || HELD_PROPERTIES.contains(&base)
        || HELD_PREFIXES.iter().any(|prefix| base.starts_with(prefix))
    {
        return true;
    }

    // UV sets have names of their own.
    let is_uv = |property: &Property| {
        property.name == base
            && matches!(
                property.kind.as_str(),
                "texCoord2f" | "texCoord2d" | "texCoord2h" | "float2"
            )
    };
    base.starts_with("primvars:") && prim.properties.iter().any(is_uv)
}

/// Metadata of prims and of the layer that describes content, by name.
fn other_metadata(stage: &Stage<'_>) -> Option<String> {
    const HELD_OF_LAYER: [&str; 13] = [
        "colorConfiguration",
        "defaultPrim",
        "endTimeCode",
        "framesPerSecond",
        "metersPerUnit",
        "primChildren",
        "rootPrimOrder",
        "startTimeCode",
        "subLayerOffsets",
        "subLayers",
        "timeCodesPerSecond",
        "upAxis",
        "autoPlay",
    ];

    let of_layer = stage.layer.metadata.iter().map(|(key, _)| key.as_str());
    let of_layer = of_layer.filter(|key| !HELD_OF_LAYER.contains(key));
    let of_prims = stage.nodes.iter().flat_map(|node| &node.prim.metadata);
    let of_prims = of_prims.map(|(key, _)| key.as_str());
    let of_prims = of_prims.filter(|key| !HELD_METADATA.contains(key));
    let names: BTreeSet<&str> = of_layer.chain(of_prims).collect();
    (!names.is_empty()).then(|| format!("the metadata {}", listed(&names)))
}

/// The first names of a set.
fn listed(names: &BTreeSet<&str>) -> String {
    let quoted = names.iter().take(MOST_NAMES);
    let mut quoted: Vec<String> = quoted
        .map(|name| format!("'{}'", name.escape_debug()))
        .collect();
    if names.len() > MOST_NAMES {
        quoted.push("…".into());
    }
    quoted.join(", ")
}
