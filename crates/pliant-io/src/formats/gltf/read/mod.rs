//! Reader of glTF: from bytes to objects and clips.
//!
//! From the bytes up, one module for each concept:
//!
//! | module | concept |
//! |---|---|
//! | `buffers` | bytes of buffers and buffer views |
//! | `meshopt` | decompression of `EXT_meshopt_compression` views |
//! | `draco` | compressed vertices and faces |
//! | `accessor` | typed arrays in buffer views |
//! | `primitive` | all primitives of a mesh, as stored |
//! | `weld` | stored vertices → vertices |
//! | `polygons` | triangles → the polygons of our own files |
//! | `morph` | morph targets |
//! | `mesh` | one glTF mesh → a rig with its seams |
//! | `material` | materials, textures and images |
//! | `instances` | the places at which the scene shows a mesh |
//! | `nodes` | the node hierarchy and its transforms |
//! | `skin` | joints and their bind pose |
//! | `vrm` | expressions of VRM avatars → presets |
//! | `animation` | animations → clips, with key-frame curves and the frame grid |
//! | `other_content` | what no field of an asset holds |
//! | `extras` | the lists that our own files store in accessors |
//! | `scene` | the whole document → an asset |

mod accessor;
mod animation;
mod buffers;
mod draco;
mod extras;
mod instances;
mod material;
mod mesh;
mod meshopt;
mod morph;
mod nodes;
mod other_content;
mod polygons;
mod primitive;
mod scene;
mod skin;
mod vrm;
mod weld;

use std::sync::Arc;

use serde_json::{Value, json};

pub(super) use self::accessor::Source;
pub(super) use self::buffers::Buffers;
pub(super) use self::mesh::target_normals;
pub(super) use self::nodes::NodeTree;
use self::other_content::OtherContent;
pub(super) use self::primitive::read_primitives;
pub(super) use self::scene::{PlacedMesh, ReadObject, ReadScene, Scene};
pub(super) use self::skin::BoundSkin;
use crate::formats::ReadFailure;
use crate::gltf::container;
use crate::gltf::document::Document;
use crate::gltf::original::RecordingFiles;
use crate::parse::finite::NotFinite;
use crate::parse::json::json_problem;
use crate::{Asset, FileProvider, IoError, ReadError};

/// The supported extensions that change how meshes are stored.
const SUPPORTED_EXTENSIONS: [&str; 6] = [
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "EXT_mesh_gpu_instancing",
    "KHR_node_visibility",
];

/// Reads a GLB, or a glTF whose buffers `files` opens.
///
/// Messages about the bytes themselves do not contain the file name, which only the caller knows.
pub fn read(bytes: &[u8], files: &dyn FileProvider) -> Result<Asset, IoError> {
    read_document(bytes, files).map_err(|failure| match failure {
        ReadFailure::Content(error) => error.in_file("glTF"),
        ReadFailure::File(error) => error,
    })
}

pub(crate) fn read_document(bytes: &[u8], files: &dyn FileProvider) -> Result<Asset, ReadFailure> {
    read_shared(&Arc::new(bytes.to_vec()), files)
}

/// Reads a document whose bytes the asset keeps without a copy.
pub(crate) fn read_shared(
    bytes: &Arc<Vec<u8>>,
    files: &dyn FileProvider,
) -> Result<Asset, ReadFailure> {
    let files = RecordingFiles::new(files);
    let chunks = container::open(bytes)?;
    let document = open_document(chunks.json)?;
    let buffers = Buffers::open(&document, &chunks, &files)?;
    let source = Source::open(&document, buffers, &chunks)?;

    let not_finite = NotFinite::default();
    source.check_finite(&not_finite)?;
    let scene = Scene::read(&source, &files, &[])?;
    for (index, skin) in &scene.skins {
        skin.check_finite(*index, &not_finite);
    }
    let other_content = OtherContent::of(&source, &scene).phrases()?;
    let original = files.into_original(bytes, scene.read_objects());
    Ok(Asset {
        other_content,
        not_finite: not_finite.into_messages(),
        original: Some(Arc::new(original)),
        ..scene.asset
    })
}

/// The document of a JSON text, of a supported version and with supported extensions.
pub(super) fn open_document(json: &[u8]) -> Result<Document, ReadError> {
    let document = parse(json)?;
    require_version(&document)?;
    require_supported_extensions(&document)?;
    Ok(document)
}

fn parse(json: &[u8]) -> Result<Document, ReadError> {
    serde_json::from_slice(json).map_err(|e| {
        // The first version of glTF has other lists.
        let versioned: Option<Document> = serde_json::from_slice::<Value>(json)
            .ok()
            .and_then(|value| serde_json::from_value(json!({ "asset": value.get("asset")? })).ok());
        if let Some(Err(wrong_version)) = versioned.map(|document| require_version(&document)) {
            return wrong_version;
        }
        let problem = json_problem(&e);
        let message =
            format!("the JSON does not describe a glTF scene: {problem}; export the file again");
        ReadError::whole(message.replace(char::is_control, " "))
    })
}

fn require_version(document: &Document) -> Result<(), ReadError> {
    let version = document
        .asset
        .get("version")
        .and_then(Value::as_str)
        .unwrap_or_default();

    if version.starts_with("2.") {
        Ok(())
    } else {
        Err(ReadError::whole(format!(
            "the file is glTF of version '{version}'; export it as version 2"
        )))
    }
}

fn require_supported_extensions(document: &Document) -> Result<(), ReadError> {
    // Without its extension, a compressed mesh, for example, has no bytes that could be read.
    for name in &document.extensions_required {
        if !changes_only_appearance(name) && !SUPPORTED_EXTENSIONS.contains(&name.as_str()) {
            return Err(ReadError::whole(format!(
                "the file needs the extension '{name}', which is not supported; export it without"
            )));
        }
    }
    Ok(())
}

/// Whether an extension is about textures, materials or lights, which are not read anyway.
fn changes_only_appearance(extension: &str) -> bool {
    extension.starts_with("KHR_texture")
        || extension.starts_with("KHR_materials")
        || extension.starts_with("KHR_lights")
        || extension.contains("texture")
}
