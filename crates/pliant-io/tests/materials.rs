//! Materials, textures and images: what is read is kept and written.

use pliant_io::{AlphaMode, Asset, NoFiles, Wrap, gltf, obj};
use serde_json::{Value, json};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nbytes of an image";

/// A triangle with UVs; its positions, UVs and an image are in one buffer.
fn triangle(materials: Value, more: Value) -> Vec<u8> {
    let mut buffer: Vec<u8> = Vec::new();
    for x in [
        0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0,
    ] {
        buffer.extend(x.to_le_bytes());
    }
    buffer.extend(PNG);

    let count = materials.as_array().map_or(0, Vec::len);
    let primitives: Vec<Value> = (0..count)
        .map(|k| json!({ "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "material": k }))
        .collect();
    let mut document = json!({
        "asset": { "version": "2.0" },
        "buffers": [{ "byteLength": buffer.len(), "uri": data_uri(&buffer) }],
        "bufferViews": [
            { "buffer": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 24 },
            { "buffer": 0, "byteOffset": 60, "byteLength": PNG.len() },
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2" },
        ],
        "meshes": [{ "primitives": primitives }],
        "nodes": [{ "mesh": 0 }],
        "materials": materials,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        document[key] = value.clone();
    }
    serde_json::to_vec(&document).unwrap()
}

fn data_uri(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("data:application/octet-stream;base64,");
    for group in bytes.chunks(3) {
        let word =
            group.iter().fold(0_u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - group.len()));
        for k in 0..4 {
            let digit = char::from(DIGITS[(word >> (18 - 6 * k)) as usize & 63]);
            text.push(if k <= group.len() { digit } else { '=' });
        }
    }
    text
}

fn textured() -> Vec<u8> {
    let materials = json!([
        {
            "name": "skin",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.5, 0.25, 1.0, 0.75],
                "baseColorTexture": {
                    "index": 0,
                    "extensions": { "KHR_texture_transform": { "scale": [2.0, 3.0], "rotation": 0.5 } },
                },
                "metallicFactor": 0.25,
            },
            "alphaMode": "MASK",
            "alphaCutoff": 0.3,
            "extras": { "kept": true },
        },
        { "pbrMetallicRoughness": { "roughnessFactor": 0.5 }, "extensions": { "KHR_materials_unlit": {} } },
        { "name": "skin", "emissiveFactor": [1.0, 0.5, 0.0] },
        { "name": "label only" },
    ]);
    let more = json!({
        "images": [{ "bufferView": 2, "mimeType": "image/png", "name": "face" }],
        "textures": [{ "source": 0, "sampler": 0 }],
        "samplers": [{ "wrapS": 33071, "wrapT": 33648 }],
        "extensionsUsed": ["KHR_texture_transform", "KHR_materials_unlit"],
    });
    triangle(materials, more)
}

fn assert_is_textured(asset: &Asset) {
    let names: Vec<&str> = asset.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["skin", "material_1", "skin_1"]);
    let skin = asset.material("skin").unwrap();
    assert_eq!(skin.base_color.to_array(), [0.5, 0.25, 1.0, 0.75]);
    assert_eq!((skin.metallic, skin.alpha), (0.25, AlphaMode::Mask(0.3)));
    let texture = skin.base_color_texture.as_ref().unwrap();
    assert_eq!(texture.wrap, [Wrap::Clamp, Wrap::Mirror]);
    assert_eq!(texture.transform.scale.to_array(), [2.0, 3.0]);
    assert_eq!(texture.transform.rotation_rad, 0.5);
    assert_eq!(&*asset.images[texture.image].bytes, PNG);
    assert_eq!(asset.images[texture.image].media_type, "image/png");
    assert!(asset.material("material_1").unwrap().unlit);

    let labels = asset.objects[0].rig.neutral().materials();
    let of_faces: Vec<_> = (0..4).map(|face| labels.of(face).unwrap()).collect();
    assert_eq!(of_faces, ["skin", "material_1", "skin_1", "label only"]);
}

#[test]
fn gltf_materials_are_read_with_distinct_names_and_written_as_they_were() {
    let asset = gltf::read(&textured(), &NoFiles).unwrap();
    assert_is_textured(&asset);
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);

    let again = gltf::read(&gltf::write(&asset).bytes, &NoFiles).unwrap();
    assert_is_textured(&again);

    let json = gltf::write_json(&asset);
    assert!(json.left_out.is_empty(), "{:?}", json.left_out);
    let document: Value = serde_json::from_slice(&json.bytes).unwrap();
    let stored: Vec<_> = document["materials"].as_array().unwrap().iter().collect();
    assert_eq!(stored[0]["extras"]["kept"], true);
    assert_eq!(
        (&stored[1]["name"], &stored[2]["name"]),
        (&Value::Null, &json!("skin"))
    );
    assert_is_textured(&gltf::read(&json.bytes, &NoFiles).unwrap());
}

#[test]
fn parts_poses_and_other_formats_keep_materials() {
    let asset = gltf::read(&textured(), &NoFiles).unwrap();
    let posed = asset.posed(asset.mesh().unwrap().positions()).unwrap();
    assert_is_textured(&posed);
    assert_is_textured(&gltf::read(&gltf::write(&posed).bytes, &NoFiles).unwrap());

    // An asset that is not the file any more is written as a new document.
    let json = gltf::write_json(&posed);
    assert!(json.left_out.is_empty(), "{:?}", json.left_out);
    let document: Value = serde_json::from_slice(&json.bytes).unwrap();
    let uri = document["images"][0]["uri"].as_str().unwrap();
    assert!(uri.starts_with("data:image/png;base64,"));
    assert_is_textured(&gltf::read(&json.bytes, &NoFiles).unwrap());

    let written = obj::write(&asset);
    let names: Vec<&str> = written.sidecar_files.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["materials.mtl", "face.png"]);
    assert_eq!(written.sidecar_files[1].1, PNG);
    assert!(
        written.left_out.iter().any(|l| l.contains("cutoff")),
        "{:?}",
        written.left_out
    );
}

#[test]
fn what_is_wrong_with_a_material_is_a_warning() {
    let materials = json!([{
        "name": "odd",
        "pbrMetallicRoughness": { "baseColorFactor": [1, "x"], "baseColorTexture": { "index": 7 } },
        "normalTexture": { "index": 0 },
        "emissiveTexture": 5,
    }]);
    let more = json!({
        "images": [{ "uri": "no-such-file.png" }, { "bufferView": 99 }, {}, 3],
        "textures": [{ "source": 9 }],
    });
    let asset = gltf::read(&triangle(materials, more), &NoFiles).unwrap();
    assert_eq!(asset.materials[0].base_color.to_array(), [1.0; 4]);
    let warnings = asset.warnings.join("\n");
    for part in ["no-such-file.png", "view 99", "texture 7", "image 9"] {
        assert!(warnings.contains(part), "{part}: {warnings}");
    }
}

#[test]
fn overlapping_images_cannot_ask_for_more_memory_than_a_file_of_their_size_holds() {
    // One megabyte that thousands of images share byte by byte.
    let bytes = vec![7_u8; 1 << 20];
    let views: Vec<Value> = (0..4000)
        .map(|k| json!({ "buffer": 0, "byteOffset": k, "byteLength": (1 << 20) - 4000 }))
        .collect();
    let images: Vec<Value> = (0..4000).map(|k| json!({ "bufferView": k })).collect();
    let document = json!({
        "asset": { "version": "2.0" },
        "buffers": [{ "byteLength": bytes.len(), "uri": data_uri(&bytes) }],
        "bufferViews": views,
        "images": images,
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "componentType": 5126, "count": 3, "type": "VEC3" }],
    });
    let error = gltf::read(&serde_json::to_vec(&document).unwrap(), &NoFiles).unwrap_err();
    assert!(error.to_string().contains("image"), "{error}");
}
