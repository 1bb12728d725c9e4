//! Reader of glTF: from bytes to objects and clips.
//!
//! From the bytes up, one module for each concept:
//!
//! | module | concept |
//! |---|---|
//! | `buffers` | bytes of buffers and buffer views |
//! | `meshopt` | decompression of `EXT_meshopt_compression` views |
//! | `accessor` | typed arrays in buffer views |
//! | `primitive` | all primitives of a mesh, as stored |
//! | `weld` | stored vertices → vertices |
//! | `polygons` | triangles → the polygons of our own files |
//! | `morph` | morph targets |
//! | `mesh` | one glTF mesh → a rig with its seams |
//! | `material` | materials, textures and images |
//! | `nodes` | the node hierarchy and its transforms |
//! | `skin` | joints and their bind pose |
//! | `animation` | animations → clips, with key-frame curves and the frame grid |
//! | `extras` | the lists that our own files store in accessors |
//! | `scene` | the whole document → an asset |

mod accessor;
mod animation;
mod buffers;
mod extras;
mod material;
mod mesh;
mod meshopt;
mod morph;
mod nodes;
mod polygons;
mod primitive;
mod scene;
mod skin;
mod weld;

use serde_json::Value;

use self::accessor::Source;
use self::buffers::Buffers;
use self::scene::Scene;
use crate::formats::ReadFailure;
use crate::gltf::container;
use crate::gltf::document::Document;
use crate::{Asset, FileProvider, IoError, ReadError};

/// The supported extensions that change how meshes are stored.
const SUPPORTED_EXTENSIONS: [&str; 2] = ["KHR_mesh_quantization", "EXT_meshopt_compression"];

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
    let chunks = container::open(bytes)?;
    let document = parse(chunks.json)?;
    require_version(&document)?;
    require_supported_extensions(&document)?;

    let buffers = Buffers::open(&document, &chunks, files)?;
    let source = Source {
        document: &document,
        buffers,
        material_labels: material::labels(&document),
    };

    Ok(Scene::read(&source, files)?)
}

fn parse(json: &[u8]) -> Result<Document, ReadError> {
    serde_json::from_slice(json).map_err(|e| {
        let message =
            format!("the JSON does not describe a glTF scene: {e}; export the file again");
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
    // Without its extension, a Draco mesh, for example, has no bytes that could be read.
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
