//! A glTF file as JSON and bytes, read without the library, and what an edit changed in it.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Outcome;

/// A document with the bytes of its buffers.
pub(super) struct GltfFile {
    json: Value,
    buffers: Vec<Vec<u8>>,
    folder: std::path::PathBuf,
}

impl GltfFile {
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let bytes = fs::read(path)?;
        let (text, binary) = chunks(&bytes);
        let json: Value =
            serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text))?;
        let mut file = Self {
            json,
            buffers: Vec::new(),
            folder: path.parent().unwrap_or(Path::new("")).into(),
        };
        for buffer in list(&file.json, "buffers") {
            let uri = buffer.get("uri").and_then(Value::as_str);
            file.buffers.push(match uri {
                Some(uri) => file.resource(uri),
                None => binary.to_vec(),
            });
        }
        Ok(file)
    }

    /// The bytes at a URI; none for a file that is missing.
    fn resource(&self, uri: &str) -> Vec<u8> {
        if let Some((_, text)) = uri.split_once(";base64,") {
            return base64(text);
        }
        fs::read(self.folder.join(decoded(uri))).unwrap_or_default()
    }

    fn view(&self, index: &Value) -> Vec<u8> {
        let Some(view) = index
            .as_u64()
            .and_then(|k| list(&self.json, "bufferViews").get(k as usize))
        else {
            return Vec::new();
        };
        // What a compressed view holds is not decoded; its bytes must be the same.
        let packed = view.get("extensions").and_then(Value::as_object);
        let packed = packed
            .into_iter()
            .flatten()
            .find_map(|(name, value)| name.ends_with("meshopt_compression").then_some(value));
        let range = packed.unwrap_or(view);
        let number = |key: &str| range.get(key).and_then(Value::as_u64).unwrap_or(0) as usize;
        let buffer = self
            .buffers
            .get(number("buffer"))
            .map_or(&[][..], Vec::as_slice);
        let start = number("byteOffset");
        buffer
            .get(start..start + number("byteLength"))
            .unwrap_or_default()
            .to_vec()
    }

    /// All that an accessor says, with bytes instead of references.
    fn accessor(&self, index: &Value) -> Value {
        let known = index
            .as_u64()
            .and_then(|k| list(&self.json, "accessors").get(k as usize));
        let Some(accessor) = known else {
            return Value::Null;
        };
        let mut own = accessor.clone();
        own["bytes"] = match accessor.get("bufferView") {
            Some(view) => json!(self.rows(accessor, view)),
            None => Value::Null,
        };
        for part in ["indices", "values"] {
            if let Some(view) = accessor.pointer(&format!("/sparse/{part}/bufferView")) {
                own["sparse"][part]["bytes"] = json!(hash(&self.view(view)));
                remove(&mut own["sparse"][part], &["bufferView"]);
            }
        }
        remove(&mut own, &["bufferView", "byteOffset"]);
        own
    }

    /// A hash of the rows of an accessor, without the bytes between them.
    fn rows(&self, accessor: &Value, view: &Value) -> u64 {
        let bytes = self.view(view);
        let description = view
            .as_u64()
            .and_then(|k| list(&self.json, "bufferViews").get(k as usize));
        let compressed = description.and_then(|v| v.get("extensions")).is_some();
        let number =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).map(|n| n as usize);
        let component = match number(accessor, "componentType") {
            Some(5120 | 5121) => 1,
            Some(5122 | 5123) => 2,
            _ => 4,
        };
        let width = match accessor.get("type").and_then(Value::as_str) {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4" | "MAT2") => 4,
            Some("MAT3") => 9,
            _ => 16,
        };
        if compressed {
            return hash(&bytes);
        }

        let row = component * width;
        let stride = description
            .and_then(|v| number(v, "byteStride"))
            .unwrap_or(row);
        let start = number(accessor, "byteOffset").unwrap_or(0);
        let mut rows = Vec::new();
        for k in 0..number(accessor, "count").unwrap_or(0) {
            let from = start + k * stride;
            rows.extend_from_slice(bytes.get(from..from + row).unwrap_or_default());
        }
        hash(&rows)
    }

    /// A map of names to accessors, with their content.
    fn attributes(&self, attributes: Option<&Value>) -> Value {
        let map = attributes.and_then(Value::as_object);
        let resolved = map.into_iter().flatten();
        Value::Object(
            resolved
                .map(|(name, index)| (name.clone(), self.accessor(index)))
                .collect(),
        )
    }

    /// A primitive with the content of its accessors, and its targets apart.
    fn primitive(&self, primitive: &Value) -> (Value, Vec<Value>) {
        let mut own = primitive.clone();
        own["attributes"] = self.attributes(primitive.get("attributes"));
        if let Some(indices) = primitive.get("indices") {
            own["indices"] = self.accessor(indices);
        }
        let targets = list(primitive, "targets").iter();
        let targets = targets
            .map(|target| self.attributes(Some(target)))
            .collect();
        remove(&mut own, &["targets"]);
        (own, targets)
    }

    fn image(&self, image: &Value) -> Value {
        let mut own = image.clone();
        let bytes = match (
            image.get("uri").and_then(Value::as_str),
            image.get("bufferView"),
        ) {
            (Some(uri), _) => self.resource(uri),
            (None, Some(view)) => self.view(view),
            (None, None) => Vec::new(),
        };
        own["bytes"] = json!(hash(&bytes));
        remove(&mut own, &["uri", "bufferView", "mimeType"]);
        own
    }

    /// An animation without the curves of weights.
    fn animation(&self, animation: &Value) -> Value {
        let samplers = list(animation, "samplers");
        let mut channels = Vec::new();
        for channel in list(animation, "channels") {
            let is_weights =
                channel.pointer("/target/path").and_then(Value::as_str) == Some("weights");
            let mut own = channel.clone();
            let sampler = channel.get("sampler").and_then(Value::as_u64);
            let sampler = sampler.and_then(|k| samplers.get(k as usize));
            if let Some(sampler) = sampler.filter(|_| !is_weights) {
                own["sampler"] = json!({
                    "input": self.accessor(&sampler["input"]),
                    "output": self.accessor(&sampler["output"]),
                    "interpolation": sampler.get("interpolation"),
                    "extras": sampler.get("extras"),
                });
            } else {
                remove(&mut own, &["sampler"]);
            }
            channels.push(own.to_string());
        }
        channels.sort();
        let mut own = animation.clone();
        remove(&mut own, &["samplers"]);
        own["channels"] = json!(channels);
        own
    }
}

/// What differs between a file and its copy with one more target, besides that target.
pub(super) fn unwanted_changes(before: &GltfFile, after: &GltfFile) -> Vec<String> {
    let mut found = Vec::new();
    let empty = Map::new();
    let keys = before.json.as_object().unwrap_or(&empty).keys();
    for key in keys {
        match key.as_str() {
            "accessors" | "bufferViews" | "buffers" => {}
            "meshes" => compare_meshes(before, after, &mut found),
            "nodes" => compare(before, after, key, &mut found, |_, node| {
                let mut node = node.clone();
                remove(&mut node, &["weights", "mesh"]);
                node
            }),
            "animations" => compare(before, after, key, &mut found, GltfFile::animation),
            "images" => compare(before, after, key, &mut found, GltfFile::image),
            "skins" => compare(before, after, key, &mut found, |file, skin| {
                let mut own = skin.clone();
                if let Some(matrices) = skin.get("inverseBindMatrices") {
                    own["inverseBindMatrices"] = file.accessor(matrices);
                }
                own
            }),
            _ => {
                if before.json.get(key) != after.json.get(key) {
                    found.push(format!("the entry {key}"));
                }
            }
        }
    }
    found.truncate(5);
    found
}

/// Compares the items of a list one by one.
fn compare(
    before: &GltfFile,
    after: &GltfFile,
    key: &str,
    found: &mut Vec<String>,
    content: impl Fn(&GltfFile, &Value) -> Value,
) {
    let old = list(&before.json, key);
    let new = list(&after.json, key);
    if old.len() != new.len() {
        found.push(format!("the number of {key}"));
    }
    for (k, (a, b)) in old.iter().zip(new).enumerate() {
        let (a, b) = (content(before, a), content(after, b));
        if a != b {
            found.push(format!("{key} {k}: {}", first_difference(&a, &b)));
        }
    }
}

fn compare_meshes(before: &GltfFile, after: &GltfFile, found: &mut Vec<String>) {
    let old = list(&before.json, "meshes");
    let new = list(&after.json, "meshes");
    // A mesh that several nodes show may have got a copy for the edited one.
    if new.len() < old.len() || new.len() > old.len() + 1 {
        found.push("the number of meshes".into());
    }
    let mut edited = new.len() - old.len().min(new.len());
    for (k, (a, b)) in old.iter().zip(new).enumerate() {
        let mut touched = false;
        let pairs = list(a, "primitives").iter().zip(list(b, "primitives"));
        for (j, (p, q)) in pairs.enumerate() {
            let (own, targets) = before.primitive(p);
            let (now, more) = after.primitive(q);
            if own != now {
                found.push(format!(
                    "mesh {k} primitive {j}: {}",
                    first_difference(&own, &now)
                ));
            }
            if targets[..] != more[..targets.len().min(more.len())] {
                found.push(format!("mesh {k} primitive {j}: its targets"));
            }
            touched |= more.len() > targets.len();
        }
        if list(a, "primitives").len() != list(b, "primitives").len() {
            found.push(format!("mesh {k}: the number of primitives"));
        }
        edited += usize::from(touched);

        let rest = |mesh: &Value| {
            let mut own = mesh.clone();
            remove(&mut own, &["primitives", "weights"]);
            if let Some(extras) = own.get_mut("extras").and_then(Value::as_object_mut) {
                extras.remove("targetNames");
                extras.remove("pliant");
                if extras.is_empty() {
                    remove(&mut own, &["extras"]);
                }
            }
            own
        };
        if rest(a) != rest(b) {
            found.push(format!(
                "mesh {k}: {}",
                first_difference(&rest(a), &rest(b))
            ));
        }
    }
    if edited != 1 {
        found.push(format!("{edited} meshes have a new target"));
    }
}

/// The path of the first difference of two values.
fn first_difference(a: &Value, b: &Value) -> String {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()) {
                match (a.get(key), b.get(key)) {
                    (Some(x), Some(y)) if x == y => {}
                    (Some(x), Some(y)) => return format!("{key} {}", first_difference(x, y)),
                    (Some(_), None) => return format!("{key} is gone"),
                    (None, _) => return format!("{key} is new"),
                }
            }
            String::new()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b);
            let differing = pairs.find(|(x, y)| x != y);
            differing.map_or_else(String::new, |(x, y)| first_difference(x, y))
        }
        _ => "differs".into(),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn remove(value: &mut Value, keys: &[&str]) {
    if let Some(fields) = value.as_object_mut() {
        for key in keys {
            fields.remove(*key);
        }
    }
}

/// The JSON and the bytes of a GLB, or the text alone.
fn chunks(bytes: &[u8]) -> (&[u8], &[u8]) {
    if !bytes.starts_with(b"glTF") {
        return (bytes, &[]);
    }
    let mut found: [&[u8]; 2] = [&[], &[]];
    let mut at = 12;
    while let Some(header) = bytes.get(at..at + 8) {
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let content = bytes.get(at + 8..at + 8 + length).unwrap_or_default();
        match &header[4..] {
            b"JSON" => found[0] = content,
            b"BIN\0" => found[1] = content,
            _ => {}
        }
        at += 8 + length;
    }
    (found[0], found[1])
}

fn hash(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    bytes.iter().fold(start, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn base64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let mut word = 0_u32;
    let mut bits = 0;
    for character in text.bytes() {
        let Some(value) = digits.iter().position(|&d| d == character) else {
            continue;
        };
        word = word << 6 | value as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    bytes
}

fn decoded(uri: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = uri.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits: Vec<u8> = rest.by_ref().take(2).collect();
        let text = String::from_utf8_lossy(&digits).into_owned();
        bytes.extend(u8::from_str_radix(&text, 16));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
