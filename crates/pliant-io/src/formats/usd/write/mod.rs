//! Writer of one USD layer, as text.
//!
//! | module | concept |
//! |---|---|
//! | `material` | UsdPreviewSurface and its textures |
//! | `names` | prim names: valid, distinct, below one root |
//! | `text` | value texts |
//! | `skeleton` | skeletons, skins, and the animations of joints and weights |

mod material;
mod names;
mod skeleton;
mod text;

use std::rc::Rc;

use pliant_mesh::glam::{DAffine3, DVec3, Vec3};
use pliant_mesh::{Bounds, CornerLayer, FaceLabels, Mesh};
use pliant_rig::Target;

use self::names::{MATERIALS, PrimTree, distinct_names};
use self::skeleton::SkeletonPrim;
use self::text::{extent, list, matrix, quoted, singles, tuples};
use crate::asset::image_file_names;
use crate::{Animation, Asset, Capabilities, EncodedAsset, IoError, Motion, Shape, UpAxes};

/// What a USDA file can store.
pub const CAPABILITIES: Capabilities = Capabilities {
    faces: true,
    polygons: true,
    objects: true,
    uv_layers: usize::MAX,
    color_layers: 1,
    normals: true,
    groups: true,
    materials: true,
    textures: true,
    smoothing: false,
    targets: true,
    in_betweens: true,
    combinations: false,
    slider_settings: false,
    rest_weights: false,
    clips: 1,
    weight_tracks: true,
    skins: true,
    rest_pose: false,
    frame_names: false,
    up_axes: UpAxes::Any,
};

/// The attribute of a mesh that stores the indices of its vertices in the order of the whole file.
pub(in crate::formats::usd) const FILE_INDEX: &str = "pliant:fileIndex";

/// The attribute of the root that stores the name of the clip, which USD cannot store.
pub(in crate::formats::usd) const CLIP_NAME: &str = "pliant:clipName";

/// The attribute of a root that the asset does not have. USD needs one default prim.
pub(in crate::formats::usd) const ADDED_ROOT: &str = "pliant:addedRoot";

/// The asset as one layer; its first clip gives the time samples.
pub fn write(asset: &Asset) -> Result<EncodedAsset, IoError> {
    asset.require_single_range("USD", 1.0)?;
    let mut left_out = CAPABILITIES.left_out_of(asset);
    let plain = skeleton::with_written_skins_only(asset);
    if let Some((_, count)) = &plain {
        left_out.push(format!(
            "{count} skin(s) of meshes that also move point by point (clips hold the resulting positions)"
        ));
    }
    let asset = plain.as_ref().map_or(asset, |(plain, _)| plain);
    left_out.extend(material::left_out(asset));
    // Positions are in single precision, transforms are not. One of a mesh would also move the meshes
    // below it.
    let near = asset
        .recentred(&asset.joint_leaders())
        .filter(|_| PrimTree::of(asset).has_leaves_only());
    let (asset, offsets) = match &near {
        Some((near, offsets)) => (near, offsets.clone()),
        None => (asset, vec![DVec3::ZERO; asset.objects.len()]),
    };
    let clip = asset.clips.first();
    let image_names = image_file_names(asset);
    let tree = PrimTree::of(asset);
    let file_indices = asset.file_indices();

    // Siblings are written together, so that the tree may change the order of the objects and their
    // vertices.
    let written_order = tree.objects().into_iter().flat_map(|k| &file_indices[k]);
    let in_order = written_order.copied().eq(0..asset.vertex_count() as u32);
    let mut writer = Writer {
        asset,
        clip,
        file_indices: (!in_order).then_some(file_indices),
        materials: materials(asset),
        uv_names: uv_names(asset),
        image_names: image_names.clone(),
        offsets,
        out: String::from("#usda 1.0\n"),
        depth: 0,
        adds_root: tree.adds_root,
        skeletons: Rc::new(skeleton::skeletons(asset, &tree)),
        curves: 0,
        stale_normals: 0,
        sheared: 0,
    };

    // Blend shapes deform only below a SkelRoot.
    writer.layer_metadata(&tree.children[0].name);
    let skeletal = !writer.skeletons.is_empty();
    for root in &tree.children {
        writer.branch(root, "", if skeletal { "SkelRoot" } else { "Xform" });
    }

    if writer.curves > 0 {
        left_out.push(format!(
            "the shape of {} weight curve(s) between frames",
            writer.curves
        ));
    }

    if writer.stale_normals > 0 {
        left_out.push(format!(
            "the normals of {} mesh(es) that move point by point",
            writer.stale_normals
        ));
    }

    if writer.sheared > 0 {
        left_out.push(format!(
            "the shear of {} transform(s) of joints",
            writer.sheared
        ));
    }

    Ok(EncodedAsset {
        bytes: writer.out.into_bytes(),
        sidecar_files: material::image_files(asset, &image_names),
        left_out,
    })
}

/// The materials of all objects: display name and prim name.
fn materials(asset: &Asset) -> Vec<(String, String)> {
    let mut display_names: Vec<&str> = Vec::new();
    for name in asset
        .objects
        .iter()
        .flat_map(|o| &o.rig.neutral().materials().names)
        .filter(|name| !name.is_empty())
    {
        if !display_names.contains(&name.as_str()) {
            display_names.push(name);
        }
    }

    let names = distinct_names(display_names.iter().copied());
    display_names
        .into_iter()
        .map(str::to_owned)
        .zip(names)
        .collect()
}

/// The names of the primvars of UV sets.
fn uv_names(asset: &Asset) -> Vec<String> {
    let meshes = asset.objects.iter().map(|o| o.rig.neutral());
    let most = meshes.max_by_key(|mesh| mesh.uv_layers().len());
    most.map_or_else(Vec::new, primvar_names)
}

fn primvar_names(mesh: &Mesh) -> Vec<String> {
    distinct_names(mesh.uv_layers().iter().map(|layer| {
        if layer.name.is_empty() {
            "st"
        } else {
            &layer.name
        }
    }))
}

struct Writer<'a> {
    asset: &'a Asset,
    clip: Option<&'a Animation>,
    /// For each object, the indices of its vertices in the order of the whole file; `None` if they
    /// follow each other.
    file_indices: Option<Vec<Vec<u32>>>,
    /// Display name and prim name of each material.
    materials: Vec<(String, String)>,
    /// The primvars of the UV sets, of the mesh that has most.
    uv_names: Vec<String>,
    /// The names of the files of the images.
    image_names: Vec<String>,
    /// What the transform of each object adds to its positions.
    offsets: Vec<DVec3>,
    /// Whether the root is no part of the asset.
    adds_root: bool,
    skeletons: Rc<Vec<SkeletonPrim>>,
    out: String,
    depth: usize,
    /// Curves of weights that were written frame by frame.
    curves: usize,
    /// Meshes whose normals do not fit their moving points.
    stale_normals: usize,
    /// Transforms of joints that have shear.
    sheared: usize,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n("    ", self.depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self, text: &str) {
        self.depth -= 1;
        self.line(text);
    }

    fn layer_metadata(&mut self, root: &str) {
        self.open("(");
        self.line(&format!("defaultPrim = \"{root}\""));
        if let Some(clip) = self.clip {
            let last = clip.frame_count.saturating_sub(1) as f64;
            self.line(&format!(
                "endTimeCode = {}",
                code(clip, clip.start_secs) + last
            ));
            self.line(&format!("framesPerSecond = {}", clip.frames_per_second));
            self.line(&format!("startTimeCode = {}", code(clip, clip.start_secs)));
            self.line(&format!("timeCodesPerSecond = {}", clip.frames_per_second));
        }

        // USD reads a missing unit as centimetres; of an unknown one, metres are the better guess.
        let unit = self.asset.meters_per_unit.unwrap_or(1.0);
        self.line(&format!("metersPerUnit = {unit}"));

        self.line(&format!("upAxis = \"{}\"", self.asset.up_axis));
        self.close(")");
    }

    /// Opens a prim with its metadata.
    fn prim(&mut self, kind: &str, name: &str, display_name: &str, schemas: &[&str]) {
        self.out.push('\n');
        let mut metadata = Vec::new();
        if !schemas.is_empty() {
            metadata.push(format!(
                "prepend apiSchemas = [\"{}\"]",
                schemas.join("\", \"")
            ));
        }

        if display_name != name {
            metadata.push(format!("displayName = {}", quoted(display_name)));
        }

        if metadata.is_empty() {
            self.line(&format!("def {kind} \"{name}\""));
        } else {
            self.open(&format!("def {kind} \"{name}\" ("));
            for entry in &metadata {
                self.line(entry);
            }
            self.close(")");
        }

        self.open("{");
    }

    /// A prim and everything below it.
    fn branch(&mut self, branch: &PrimTree, above: &str, kind: &str) {
        let path = format!("{above}/{}", branch.name);
        match branch.object {
            Some(index) => self.object(branch, &path, index),
            None => self.group(branch, above, &path, kind),
        }
    }

    /// A prim without a mesh. The root also holds the clip name and the materials.
    fn group(&mut self, branch: &PrimTree, above: &str, path: &str, kind: &str) {
        let is_root = above.is_empty();
        self.prim(kind, &branch.name, &branch.display_name, &[]);
        if let Some(clip) = self.clip.filter(|clip| is_root && !clip.name.is_empty()) {
            let name = quoted(&clip.name);
            self.line(&format!("custom string {CLIP_NAME} = {name}"));
        }

        if is_root && self.adds_root {
            self.line(&format!("custom bool {ADDED_ROOT} = 1"));
        }

        for child in &branch.children {
            self.branch(child, path, "Xform");
        }
        if is_root {
            self.material_scope(path);
        }
        self.close("}");
    }

    /// A mesh, and the skeleton that carries its blend shapes.
    fn object(&mut self, branch: &PrimTree, path: &str, index: usize) {
        let object = &self.asset.objects[index];
        let motion = self
            .clip
            .and_then(|clip| clip.motions.iter().find(|m| m.object == index));
        let animated = !object.rig.targets().is_empty() || object.skin.is_some();

        self.prim(
            "Mesh",
            &branch.name,
            &branch.display_name,
            if animated { &["SkelBindingAPI"] } else { &[] },
        );

        // Every object is below the one root.
        let root_end = path.match_indices('/').nth(1);
        let root = root_end.map_or(path, |(end, _)| &path[..end]);
        self.mesh(index, motion, root);
        if let Some(file_indices) = &self.file_indices {
            let indices = list(&file_indices[index]);
            self.line(&format!("custom int[] {FILE_INDEX} = {indices}"));
        }
        if animated {
            self.binding(index);
            self.targets(object.rig.targets(), path);
        }

        for child in &branch.children {
            self.branch(child, path, "Xform");
        }
        self.close("}");

        // A skeleton is a sibling of the first mesh that uses it.
        self.skeleton_beside(index);
    }

    /// The materials; those that are only labels have no shaders.
    fn material_scope(&mut self, root: &str) {
        if self.materials.is_empty() {
            return;
        }
        self.prim("Scope", MATERIALS, MATERIALS, &[]);
        for (display_name, name) in self.materials.clone() {
            self.prim("Material", &name, &display_name, &[]);
            if let Some(material) = self.asset.material(&display_name) {
                self.shaders(material, &format!("{root}/{MATERIALS}/{name}"));
            }
            self.close("}");
        }
        self.close("}");
    }

    fn mesh(&mut self, index: usize, motion: Option<&Motion>, root: &str) {
        let object = &self.asset.objects[index];
        let mesh = object.rig.neutral();
        if let Some(bounds) = mesh.bounds() {
            self.line(&format!("float3[] extent = {}", extent(&bounds)));
        }

        self.line(&format!(
            "int[] faceVertexCounts = {}",
            list(mesh.faces().map(<[u32]>::len))
        ));

        self.line(&format!(
            "int[] faceVertexIndices = {}",
            list(mesh.faces().flatten())
        ));

        self.line(&format!(
            "point3f[] points = {}",
            tuples(mesh.positions().iter().map(|p| p.as_vec3().to_array()))
        ));
        self.moving_points(motion);
        let moves = motion.is_some_and(|motion| matches!(motion.shape, Shape::Points(_)));
        self.layers(mesh, moves);

        self.line("uniform token subdivisionScheme = \"none\"");
        // Joints place a skinned mesh, its own transform does not.
        if object.skin.is_none() {
            self.placement(motion, self.offsets[index]);
        }
        self.subsets(mesh.materials(), "materialBind", "material", root);
        self.subsets(mesh.groups(), "group", "group", root);
    }

    fn moving_points(&mut self, motion: Option<&Motion>) {
        let (Some(motion), Some(clip)) = (motion, self.clip) else {
            return;
        };
        let Shape::Points(frames) = &motion.shape else {
            return;
        };

        self.open("float3[] extent.timeSamples = {");
        for (k, frame) in frames.iter().enumerate() {
            if let Some(bounds) = Bounds::of(frame) {
                let at = frame_code(clip, k);
                self.line(&format!("{at}: {},", extent(&bounds)));
            }
        }

        self.close("}");
        self.open("point3f[] points.timeSamples = {");
        for (k, frame) in frames.iter().enumerate() {
            let at = frame_code(clip, k);
            self.line(&format!(
                "{at}: {},",
                tuples(frame.iter().map(|p| p.as_vec3().to_array()))
            ));
        }

        self.close("}");
    }

    fn layers(&mut self, mesh: &Mesh, moves: bool) {
        let names = primvar_names(mesh);
        for (layer, name) in mesh.uv_layers().iter().zip(names) {
            self.primvar("texCoord2f", &name, layer, |uv| uv.as_vec2().to_array());
        }

        match mesh.normals() {
            // Normals of the rest pose would shade every frame.
            Some(_) if moves => self.stale_normals += 1,
            Some(layer) => self.primvar("normal3f", "normals", layer, |n| n.as_vec3().to_array()),
            None => {}
        }

        if let Some(layer) = mesh.colors().first() {
            let colors = tuples(
                layer
                    .values
                    .iter()
                    .map(|c| c.truncate().as_vec3().to_array()),
            );

            self.attribute(
                &format!("color3f[] primvars:displayColor = {colors}"),
                &["interpolation = \"vertex\""],
            );

            if layer.values.iter().any(|c| c.w != 1.0) {
                let opacity = singles(layer.values.iter().map(|c| c.w));
                self.attribute(
                    &format!("float[] primvars:displayOpacity = {opacity}"),
                    &["interpolation = \"vertex\""],
                );
            }
        }
    }

    fn attribute(&mut self, text: &str, metadata: &[&str]) {
        self.open(&format!("{text} ("));
        for entry in metadata {
            self.line(entry);
        }
        self.close(")");
    }

    fn primvar<T, const N: usize>(
        &mut self,
        kind: &str,
        name: &str,
        layer: &CornerLayer<T>,
        numbers: fn(&T) -> [f32; N],
    ) {
        // USD marks a corner without a value by an index to one extra value.
        let missing = layer
            .corners
            .iter()
            .any(Option::is_none)
            .then_some(layer.values.len());

        let values = tuples(
            layer
                .values
                .iter()
                .map(numbers)
                .chain(missing.map(|_| [0.0; N])),
        );

        let unauthored = missing.map(|k| format!("unauthoredValuesIndex = {k}"));
        let metadata: Vec<&str> = std::iter::once("interpolation = \"faceVarying\"")
            .chain(unauthored.as_deref())
            .collect();

        self.attribute(&format!("{kind}[] primvars:{name} = {values}"), &metadata);
        let corners = layer
            .corners
            .iter()
            .map(|c| c.map_or(layer.values.len(), |k| k as usize));

        self.line(&format!(
            "int[] primvars:{name}:indices = {}",
            list(corners)
        ));
    }

    fn placement(&mut self, motion: Option<&Motion>, offset: DVec3) {
        let track = motion.and_then(|motion| motion.placement.as_ref());
        let moving = track.zip(self.clip);
        if moving.is_none() && offset == DVec3::ZERO {
            return;
        }

        let rest = DAffine3::from_translation(offset);
        self.line(&format!("matrix4d xformOp:transform = {}", matrix(&rest)));
        if let Some((track, clip)) = moving {
            self.open("matrix4d xformOp:transform.timeSamples = {");
            for k in 0..clip.frame_count {
                let at = frame_code(clip, k);
                let moved = track.at(clip.time_secs(k)) * rest;
                self.line(&format!("{at}: {},", matrix(&moved)));
            }
            self.close("}");
        }
        self.line("uniform token[] xformOpOrder = [\"xformOp:transform\"]");
    }

    fn subsets(&mut self, labels: &FaceLabels, family: &str, prefix: &str, root: &str) {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); labels.names.len()];
        for (face, &label) in labels.of_face.iter().enumerate() {
            members[label as usize].push(face);
        }

        let names = distinct_names(labels.names.iter().map(String::as_str));
        for ((faces, name), display_name) in members
            .iter()
            .zip(names)
            .zip(&labels.names)
            .filter(|(_, display_name)| !display_name.is_empty())
        {
            // A subset of materials also binds the material prim.
            let material = self
                .materials
                .iter()
                .find(|(known, _)| family == "materialBind" && known == display_name);
            let binding = material
                .map(|(_, name)| format!("rel material:binding = <{root}/{MATERIALS}/{name}>"));

            let schemas: &[&str] = if binding.is_some() {
                &["MaterialBindingAPI"]
            } else {
                &[]
            };

            self.prim(
                "GeomSubset",
                &format!("{prefix}_{name}"),
                display_name,
                schemas,
            );
            if let Some(line) = &binding {
                self.line(line);
            }
            self.line("uniform token elementType = \"face\"");
            self.line(&format!("uniform token familyName = \"{family}\""));
            self.line(&format!("int[] indices = {}", list(faces)));
            self.close("}");
        }
    }

    fn targets(&mut self, targets: &[Target], path: &str) {
        if targets.is_empty() {
            return;
        }

        let names = distinct_names(targets.iter().map(|t| t.name.as_str()));
        let names: Vec<String> = names.iter().map(|name| format!("target_{name}")).collect();
        let tokens: Vec<String> = targets.iter().map(|t| quoted(&t.name)).collect();
        let paths: Vec<String> = names
            .iter()
            .map(|name| format!("<{path}/{name}>"))
            .collect();

        self.line(&format!(
            "uniform token[] skel:blendShapes = [{}]",
            tokens.join(", ")
        ));

        self.line(&format!(
            "rel skel:blendShapeTargets = [{}]",
            paths.join(", ")
        ));

        for (target, name) in targets.iter().zip(&names) {
            self.prim("BlendShape", name, name, &[]);
            self.target(target);
            self.close("}");
        }
    }

    fn target(&mut self, target: &Target) {
        // A BlendShape lists its vertices once, for the target and all its in-betweens.
        let shapes = target
            .in_betweens
            .iter()
            .map(|b| &b.vertices)
            .chain([&target.vertices]);
        let mut moved: Vec<u32> = shapes.flatten().copied().collect();

        moved.sort_unstable();
        moved.dedup();

        // An empty list would mean every vertex.
        if moved.is_empty() {
            moved.push(0);
        }

        let offsets = |vertices: &[u32], deltas: &[Vec3]| {
            let at = |v: &u32| {
                vertices
                    .binary_search(v)
                    .map_or(Vec3::ZERO, |k| deltas[k])
                    .to_array()
            };
            tuples(moved.iter().map(at))
        };

        let names = distinct_names(target.in_betweens.iter().map(|b| b.name.as_str()));
        for (between, name) in target.in_betweens.iter().zip(names) {
            let mut metadata = vec![format!("weight = {}", between.weight)];
            if name != between.name {
                metadata.push(format!("displayName = {}", quoted(&between.name)));
            }

            let metadata: Vec<&str> = metadata.iter().map(String::as_str).collect();
            self.attribute(
                &format!(
                    "uniform vector3f[] inbetweens:{name} = {}",
                    offsets(&between.vertices, &between.deltas)
                ),
                &metadata,
            );
        }

        self.line(&format!(
            "uniform vector3f[] offsets = {}",
            offsets(&target.vertices, &target.deltas)
        ));
        self.line(&format!("uniform int[] pointIndices = {}", list(&moved)));
    }
}

/// The time code of a time; a whole number if it is one up to rounding.
fn code(clip: &Animation, time_secs: f64) -> f64 {
    let exact = time_secs * clip.frames_per_second;
    if (exact - exact.round()).abs() < 1e-6 {
        exact.round()
    } else {
        exact
    }
}

fn frame_code(clip: &Animation, frame: usize) -> f64 {
    code(clip, clip.start_secs) + frame as f64
}
