//! Storage of an edited document: indices that became free, and bytes that nothing uses.
//!
//! **Problem.** An edit leaves accessors that nothing refers to. If they stayed, a file would grow
//! with every save; if later indices moved up, references of unknown extensions would break.
//!
//! **Method.** New accessors and buffer views take the indices that became free, the others follow
//! at the end. Bytes of freed views are cut out of the main buffer (that of the GLB, or the first),
//! in steps of four bytes so that the alignment of all others stays.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::package::{self, Container};
use crate::EncodedAsset;
use crate::gltf::extras::KEY;
use crate::gltf::original::Original;
use crate::gltf::read::Source;
use crate::gltf::write::BufferBuilder;

/// Alignment that cut bytes keep: that of the largest component of an accessor.
const STEP: usize = 4;

/// The file of an edited document, with the new accessors of `buffer`.
pub(super) fn store(
    mut json: Value,
    buffer: BufferBuilder,
    source: &Source<'_>,
    original: &Original,
    container: Container,
) -> Option<EncodedAsset> {
    let before: Value = serde_json::from_slice(package::json_text(original)?).ok()?;
    let main = package::main_buffer(source);

    // Accessors: those that the edit left without reference are free.
    let accessors = values(&buffer.accessors)?;
    let free = freed(&before, &json, "accessors", each_accessor);
    let moved = place(&mut json, "accessors", accessors, &free, unused_accessor())?;
    each_accessor(&mut json, &mut |index| renumber(index, &moved));

    // Buffer views of freed accessors are free, too.
    let free = freed(&before, &json, "bufferViews", each_view);
    let kept = cut(&json, &free, main.index, main.bytes.len());
    let shifted = kept.shift(&mut json, main.index);
    let start = kept.length().next_multiple_of(4);
    let mut views = values(&buffer.views)?;
    for view in &mut views {
        let fields = view.as_object_mut()?;
        let offset = fields.get("byteOffset").and_then(Value::as_u64);
        let offset = offset.unwrap_or(0) as usize + start;
        fields.insert("byteOffset".into(), json!(offset));
        fields.insert("buffer".into(), json!(main.index));
    }
    shifted?;

    let unused = json!({ "buffer": main.index, "byteLength": 1 });
    let moved = place(&mut json, "bufferViews", views, &free, unused)?;
    each_view(&mut json, &mut |index| renumber(index, &moved));

    // The parts are not joined here: only the finished file holds a copy of them.
    let mut parts = kept.parts(main.bytes);
    parts.push(&[0; STEP][..start - kept.length()]);
    parts.push(&buffer.bytes);
    package::pack(json, main.index, &parts, source, original, container)
}

fn values<T: serde::Serialize>(list: &[T]) -> Option<Vec<Value>> {
    let values = list.iter().map(|item| serde_json::to_value(item).ok());
    values.collect()
}

fn unused_accessor() -> Value {
    json!({ "componentType": 5126, "count": 1, "type": "SCALAR" })
}

fn renumber(index: &mut Value, moved: &HashMap<usize, usize>) {
    let known = index.as_u64().and_then(|k| moved.get(&(k as usize)));
    if let Some(&new) = known {
        *index = json!(new);
    }
}

/// Walks over references, each a number that may be changed.
type Walk = fn(&mut Value, &mut dyn FnMut(&mut Value));

/// Indices in the list `name` that something referred to before and nothing refers to now.
fn freed(before: &Value, now: &Value, name: &str, walk: Walk) -> Vec<usize> {
    let referenced = |document: &Value| {
        let mut found = HashSet::new();
        let mut document = document.clone();
        walk(&mut document, &mut |index| {
            found.extend(index.as_u64().map(|k| k as usize));
        });
        found
    };

    let old = referenced(before);
    let new = referenced(now);
    let extensions = indices_in_extensions(now);
    let count = before
        .get(name)
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    (0..count)
        .filter(|k| old.contains(k) && !new.contains(k) && !extensions.contains(k))
        .collect()
}

/// Puts new items at the free indices, and the others at the end; free indices that remain hold
/// `unused`. Returns where each new item went.
fn place(
    json: &mut Value,
    name: &str,
    new: Vec<Value>,
    free: &[usize],
    unused: Value,
) -> Option<HashMap<usize, usize>> {
    let list = json
        .as_object_mut()?
        .entry(name)
        .or_insert_with(|| json!([]));
    let list = list.as_array_mut()?;
    let known = list.len();
    let mut moved = HashMap::new();
    let mut free = free.iter();

    for (k, item) in new.into_iter().enumerate() {
        let index = match free.next() {
            Some(&index) => {
                list[index] = item;
                index
            }
            None => {
                list.push(item);
                list.len() - 1
            }
        };
        moved.insert(known + k, index);
    }

    // Free indices at the end are removed, so that no index changes.
    let remaining: Vec<usize> = free.copied().collect();
    for &index in remaining.iter().rev() {
        if index + 1 == list.len() {
            list.pop();
        } else {
            list[index] = unused.clone();
        }
    }
    if list.is_empty() {
        json.as_object_mut()?.remove(name);
    }

    Some(moved)
}

/// The bytes of the main buffer that stay.
struct KeptBytes {
    /// Ranges that are cut out, ascending.
    cut: Vec<(usize, usize)>,
    total: usize,
}

/// Cuts the bytes of the freed views that no other view uses.
fn cut(json: &Value, free: &[usize], buffer: usize, total: usize) -> KeptBytes {
    let views = json.get("bufferViews").and_then(Value::as_array);
    let views = views.map_or(&[][..], Vec::as_slice);
    let mut used = vec![];
    let mut unused = vec![];
    for (k, view) in views.iter().enumerate() {
        for range in ranges(view, buffer) {
            if free.binary_search(&k).is_ok() {
                unused.push(range);
            } else {
                used.push(range);
            }
        }
    }

    used.sort_unstable();
    unused.sort_unstable();
    let mut cut: Vec<(usize, usize)> = Vec::new();
    for (start, end) in unused {
        let mut from = start.max(cut.last().map_or(0, |&(_, end)| end));
        for &(used_start, used_end) in &used {
            if used_end <= from || used_start >= end {
                continue;
            }
            push_cut(&mut cut, from, used_start.min(end), total);
            from = from.max(used_end);
        }

        // The bytes up to the next multiple of the step are padding, unless another view uses them.
        let padded = end.next_multiple_of(STEP).min(total);
        let next = used.iter().find(|(_, used_end)| *used_end > end);
        let to = next.map_or(padded, |&(used_start, _)| used_start.clamp(end, padded));
        push_cut(&mut cut, from, to, total);
    }

    KeptBytes { cut, total }
}

/// Adds a range whose ends are multiples of the step.
fn push_cut(cut: &mut Vec<(usize, usize)>, from: usize, to: usize, total: usize) {
    let from = from.next_multiple_of(STEP);
    let to = to.min(total) / STEP * STEP;
    if from < to {
        cut.push((from, to));
    }
}

/// The bytes of a view in a buffer, also those of its compressed form.
fn ranges(view: &Value, buffer: usize) -> Vec<(usize, usize)> {
    let own = |fields: &Value| {
        let number = |key: &str| fields.get(key).and_then(Value::as_u64).map(|n| n as usize);
        if number("buffer")? != buffer {
            return None;
        }
        let start = number("byteOffset").unwrap_or(0);
        Some((start, start.checked_add(number("byteLength")?)?))
    };

    let extensions = view.get("extensions").and_then(Value::as_object);
    let compressed = extensions.into_iter().flat_map(|map| map.values());
    compressed.chain([view]).filter_map(own).collect()
}

impl KeptBytes {
    fn length(&self) -> usize {
        self.total - self.cut.iter().map(|(from, to)| to - from).sum::<usize>()
    }

    /// Where a byte that stays is after the cut.
    fn moved(&self, offset: usize) -> usize {
        let before = self.cut.iter().take_while(|(from, _)| *from < offset);
        offset - before.map(|(from, to)| to - from).sum::<usize>()
    }

    /// Moves the views of the buffer.
    fn shift(&self, json: &mut Value, buffer: usize) -> Option<()> {
        if self.cut.is_empty() {
            return Some(());
        }

        for view in json.get_mut("bufferViews")?.as_array_mut()? {
            self.shift_view(view, buffer);
            let extensions = view.get_mut("extensions").and_then(Value::as_object_mut);
            for compressed in extensions.into_iter().flat_map(|map| map.values_mut()) {
                self.shift_view(compressed, buffer);
            }
        }

        Some(())
    }

    fn shift_view(&self, view: &mut Value, buffer: usize) {
        let of_buffer = view.get("buffer").and_then(Value::as_u64) == Some(buffer as u64);
        if let Some(fields) = view.as_object_mut().filter(|_| of_buffer)
            && let Some(offset) = fields.get("byteOffset").and_then(Value::as_u64)
        {
            fields.insert("byteOffset".into(), json!(self.moved(offset as usize)));
        }
    }

    fn parts<'a>(&self, bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let mut kept = Vec::with_capacity(self.cut.len() + 3);
        let mut at = 0;
        for &(from, to) in &self.cut {
            kept.push(&bytes[at..from]);
            at = to;
        }
        kept.push(&bytes[at..]);
        kept
    }
}

/// Calls `visit` with every known reference to an accessor.
fn each_accessor(document: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    for mesh in items(document, "meshes") {
        for primitive in items(mesh, "primitives") {
            each_value(primitive.get_mut("attributes"), visit);
            primitive.get_mut("indices").map(&mut *visit);
            for target in items(primitive, "targets") {
                each_value(Some(target), visit);
            }
        }

        // Lists that our own files store.
        let Some(own) = mesh.get_mut("extras").and_then(|e| e.get_mut(KEY)) else {
            continue;
        };
        for key in ["weld", "faceSizes", "faceOrder", "fileIndex"] {
            own.get_mut(key).map(&mut *visit);
        }
        for key in ["groups", "smoothing"] {
            let labels = own.get_mut(key);
            labels.and_then(|l| l.get_mut("ofFace")).map(&mut *visit);
        }
    }

    for skin in items(document, "skins") {
        skin.get_mut("inverseBindMatrices").map(&mut *visit);
    }
    for animation in items(document, "animations") {
        for sampler in items(animation, "samplers") {
            sampler.get_mut("input").map(&mut *visit);
            sampler.get_mut("output").map(&mut *visit);
        }
    }
}

/// Calls `visit` with every known reference to a buffer view.
fn each_view(document: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    for accessor in items(document, "accessors") {
        accessor.get_mut("bufferView").map(&mut *visit);
        for key in ["indices", "values"] {
            let part = accessor.get_mut("sparse").and_then(|s| s.get_mut(key));
            part.and_then(|p| p.get_mut("bufferView")).map(&mut *visit);
        }
    }
    for image in items(document, "images") {
        image.get_mut("bufferView").map(&mut *visit);
    }
}

fn items<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = value.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

fn each_value(map: Option<&mut Value>, visit: &mut dyn FnMut(&mut Value)) {
    let map = map.and_then(Value::as_object_mut);
    for value in map.into_iter().flat_map(|map| map.values_mut()) {
        visit(value);
    }
}

/// Numbers in extensions whose keys suggest accessors or buffer views; these are never freed.
fn indices_in_extensions(document: &Value) -> HashSet<usize> {
    let mut found = HashSet::new();
    collect(document, false, false, &mut found);
    found
}

fn collect(value: &Value, in_extension: bool, suspected: bool, found: &mut HashSet<usize>) {
    const KEYS: [&str; 8] = [
        "accessor",
        "bufferView",
        "attributes",
        "indices",
        "values",
        "arrayOffsets",
        "stringOffsets",
        "input",
    ];

    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let suspected = suspected || KEYS.iter().any(|known| key.contains(known));
                let in_extension = in_extension || key == "extensions";
                collect(inner, in_extension, in_extension && suspected, found);
            }
        }
        Value::Array(list) => {
            for inner in list {
                collect(inner, in_extension, suspected, found);
            }
        }
        Value::Number(number) if suspected => {
            found.extend(number.as_u64().map(|k| k as usize));
        }
        _ => {}
    }
}
