use std::collections::HashSet;
use std::fmt::Write as _;

use pliant_mesh::glam::{DAffine3, DMat4, Vec3};
use pliant_mesh::{Bounds, CornerLayer, FaceLabels, Mesh};
use pliant_rig::{Interpolation, Target, WeightTrack};

use crate::{Animation, Asset, Holds, IoError, Motion, Object, Shape, UpAxes, Written};

/// What a USDA file can hold.
pub const HOLDS: Holds = Holds {
    faces: true,
    polygons: true,
    objects: true,
    uv_layers: usize::MAX,
    color_layers: 1,
    normals: true,
    groups: true,
    materials: true,
    smoothing: false,
    targets: true,
    in_betweens: true,
    rest_weights: false,
    clips: 1,
    weight_tracks: true,
    skins: false,
    frame_names: false,
    up_axes: UpAxes::Any,
};

/// The prim below the root that holds the materials.
const MATERIALS: &str = "Materials";

/// The attribute of a mesh that keeps its vertices' places in the whole file.
pub(super) const FILE_INDEX: &str = "pliant:fileIndex";

/// The attribute of the root that keeps the name of the clip, which USD has no place for.
pub(super) const CLIP_NAME: &str = "pliant:clipName";

/// What the skeleton beside a mesh is called after the mesh's name.
const SKELETON: &str = "_Skeleton";

/// The asset as one layer; its first clip gives the time samples.
pub fn write(asset: &Asset) -> Result<Written, IoError> {
    require_single_precision(asset)?;
    let mut left_out = HOLDS.left_out_of(asset);
    let skinned = asset
        .objects
        .iter()
        .any(|object| object.skin.is_some())
        .then(|| asset.without_skins());
    let asset = skinned.as_ref().unwrap_or(asset);
    let clip = asset.clips.first();
    let tree = Branch::of(asset);
    let places = asset.file_indices();
    // Prims of one parent stand together, so that a tree may change the order of the objects and
    // their vertices.
    let in_order = tree
        .objects()
        .into_iter()
        .flat_map(|k| &places[k])
        .copied()
        .eq(0..asset.vertex_count() as u32);
    let materials = materials(asset);
    let places = (!in_order).then_some(places);
    let mut writer = Writer {
        asset,
        clip,
        places,
        materials,
        out: String::from("#usda 1.0\n"),
        depth: 0,
        curves: 0,
        stale_normals: 0,
    };
    writer.layer_metadata(&tree.children[0].name);
    let skeletal = asset.objects.iter().any(|o| !o.rig.targets().is_empty());
    for root in &tree.children {
        writer.branch(root, "", if skeletal { "SkelRoot" } else { "Xform" });
    }
    if writer.curves > 0 {
        left_out.push(format!(
            "the course of {} weight curve(s) between frames",
            writer.curves
        ));
    }
    if writer.stale_normals > 0 {
        left_out.push(format!(
            "the normals of {} mesh(es) that move point by point",
            writer.stale_normals
        ));
    }
    Ok(Written {
        bytes: writer.out.into_bytes(),
        left_out,
        ..Written::default()
    })
}

/// Declines what only double precision reaches.
fn require_single_precision(asset: &Asset) -> Result<(), IoError> {
    let far = |object: &Object| {
        object
            .rig
            .neutral()
            .positions()
            .iter()
            .position(|p| !p.as_vec3().is_finite())
    };
    match asset
        .objects
        .iter()
        .find_map(|object| Some((object, far(object)?)))
    {
        None => Ok(()),
        Some((object, vertex)) => {
            let message = format!(
                "vertex {vertex} of '{}' is farther out than the 32-bit numbers of USD reach; scale the asset down",
                object.name()
            );
            Err(IoError::NotFinite {
                file: asset.shown_source(),
                message,
            })
        }
    }
}

/// A prim to be: names are made fit for USD and unlike those beside them.
#[derive(Default)]
struct Branch {
    name: String,
    /// The name as the asset has it.
    shown: String,
    object: Option<usize>,
    children: Vec<Branch>,
}

impl Branch {
    /// Objects by their paths, all below one root: USD wants one prim that stands for the file.
    fn of(asset: &Asset) -> Self {
        let paths: Vec<Vec<&str>> = asset
            .objects
            .iter()
            .map(|o| o.path.split('/').filter(|part| !part.is_empty()).collect())
            .collect();
        let common = paths.first().and_then(|path| path.first().copied());
        let rooted = common.is_some()
            && paths
                .iter()
                .all(|path| path.len() > 1 && path.first().copied() == common);
        let root = if asset.name.is_empty() {
            "Asset"
        } else {
            &asset.name
        };
        let mut tree = Self::default();
        for (k, path) in paths.iter().enumerate() {
            let mut steps: Vec<&str> = if rooted {
                path.clone()
            } else {
                std::iter::once(root).chain(path.iter().copied()).collect()
            };
            if steps.len() == 1 {
                steps.push("Mesh");
            }
            tree.insert(&steps, k);
        }
        if tree.children.is_empty() {
            tree.children.push(Self {
                name: fit(root),
                shown: root.into(),
                ..Self::default()
            });
        }
        tree
    }

    /// The objects in the order in which they are written.
    fn objects(&self) -> Vec<usize> {
        self.object
            .into_iter()
            .chain(self.children.iter().flat_map(Self::objects))
            .collect()
    }

    fn insert(&mut self, steps: &[&str], object: usize) {
        let [first, rest @ ..] = steps else { return };
        let known = if rest.is_empty() {
            None
        } else {
            self.children.iter().position(|c| c.shown == *first)
        };
        let at = known.unwrap_or_else(|| {
            let taken: HashSet<&str> = self
                .children
                .iter()
                .map(|c| c.name.as_str())
                .chain([MATERIALS])
                .collect();
            let name = unlike(fit(first), &taken);
            self.children.push(Self {
                name,
                shown: (*first).to_owned(),
                ..Self::default()
            });
            self.children.len() - 1
        });
        match rest {
            [] => self.children[at].object = Some(object),
            _ => self.children[at].insert(rest, object),
        }
    }
}

/// The name with letters, digits and underscores only, and unlike that of any skeleton.
fn fit(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    match clean.chars().next() {
        None => "Unnamed".into(),
        Some(first) if first.is_ascii_digit() => format!("_{clean}"),
        Some(_) if clean.ends_with(SKELETON) => format!("{clean}_"),
        Some(_) => clean,
    }
}

fn unlike(name: String, taken: &HashSet<&str>) -> String {
    if !taken.contains(name.as_str()) {
        return name;
    }
    (1..)
        .map(|k| format!("{name}_{k}"))
        .find(|other| !taken.contains(other.as_str()))
        .expect("some number is free")
}

/// Names fit for USD, each unlike the others.
fn unlike_each_other<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut taken = HashSet::new();
    for name in names {
        let mut other = fit(name);
        let mut k = 0;
        while !taken.insert(other.clone()) {
            k += 1;
            other = format!("{}_{k}", fit(name));
        }
        found.push(other);
    }
    found
}

/// The materials of all objects, as they are shown and as USD names them.
fn materials(asset: &Asset) -> Vec<(String, String)> {
    let mut shown: Vec<&str> = Vec::new();
    for name in asset
        .objects
        .iter()
        .flat_map(|o| &o.rig.neutral().materials().names)
        .filter(|name| !name.is_empty())
    {
        if !shown.contains(&name.as_str()) {
            shown.push(name);
        }
    }
    let names = unlike_each_other(shown.iter().copied());
    shown.into_iter().map(str::to_owned).zip(names).collect()
}

struct Writer<'a> {
    asset: &'a Asset,
    clip: Option<&'a Animation>,
    /// For each object the places of its vertices in the whole file, where they do not simply
    /// follow each other.
    places: Option<Vec<Vec<u32>>>,
    materials: Vec<(String, String)>,
    out: String,
    depth: usize,
    curves: usize,
    stale_normals: usize,
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
        if let Some(unit) = self.asset.meters_per_unit {
            self.line(&format!("metersPerUnit = {unit}"));
        }
        self.line(&format!("upAxis = \"{}\"", self.asset.up_axis));
        self.close(")");
    }

    /// Opens a prim with its metadata.
    fn prim(&mut self, kind: &str, name: &str, shown: &str, schemas: &[&str]) {
        self.out.push('\n');
        let mut metadata = Vec::new();
        if !schemas.is_empty() {
            metadata.push(format!(
                "prepend apiSchemas = [\"{}\"]",
                schemas.join("\", \"")
            ));
        }
        if shown != name {
            metadata.push(format!("displayName = {}", quoted(shown)));
        }
        if metadata.is_empty() {
            self.line(&format!("def {kind} \"{name}\""));
        } else {
            self.open(&format!("def {kind} \"{name}\" ("));
            metadata.iter().for_each(|entry| self.line(entry));
            self.close(")");
        }
        self.open("{");
    }

    fn branch(&mut self, branch: &Branch, above: &str, kind: &str) {
        let path = format!("{above}/{}", branch.name);
        let Some(index) = branch.object else {
            self.prim(kind, &branch.name, &branch.shown, &[]);
            if let Some(clip) = self
                .clip
                .filter(|clip| above.is_empty() && !clip.name.is_empty())
            {
                self.line(&format!(
                    "custom string {CLIP_NAME} = {}",
                    quoted(&clip.name)
                ));
            }
            branch
                .children
                .iter()
                .for_each(|child| self.branch(child, &path, "Xform"));
            if above.is_empty() {
                self.material_scope();
            }
            return self.close("}");
        };
        let object = &self.asset.objects[index];
        let motion = self
            .clip
            .and_then(|clip| clip.motions.iter().find(|m| m.object == index));
        let skeleton = format!("{path}{SKELETON}");
        let animated = !object.rig.targets().is_empty();
        self.prim(
            "Mesh",
            &branch.name,
            &branch.shown,
            if animated { &["SkelBindingAPI"] } else { &[] },
        );
        // Every object is below the one root.
        let root = path
            .match_indices('/')
            .nth(1)
            .map_or(path.as_str(), |(end, _)| &path[..end]);
        self.mesh(object, motion, root);
        if let Some(places) = &self.places {
            self.line(&format!(
                "custom int[] {FILE_INDEX} = {}",
                whole(&places[index])
            ));
        }
        if animated {
            self.targets(object.rig.targets(), &path, &skeleton);
        }
        branch
            .children
            .iter()
            .for_each(|child| self.branch(child, &path, "Xform"));
        self.close("}");
        if animated {
            self.skeleton(
                object,
                motion,
                &format!("{}{SKELETON}", branch.name),
                &skeleton,
            );
        }
    }

    /// The materials by name only; what they look like is not ours to know.
    fn material_scope(&mut self) {
        if self.materials.is_empty() {
            return;
        }
        self.prim("Scope", MATERIALS, MATERIALS, &[]);
        for (shown, name) in self.materials.clone() {
            self.prim("Material", &name, &shown, &[]);
            self.close("}");
        }
        self.close("}");
    }

    fn mesh(&mut self, object: &Object, motion: Option<&Motion>, root: &str) {
        let mesh = object.rig.neutral();
        if let Some(bounds) = mesh.bounds() {
            self.line(&format!("float3[] extent = {}", extent(&bounds)));
        }
        self.line(&format!(
            "int[] faceVertexCounts = {}",
            whole(mesh.faces().map(<[u32]>::len))
        ));
        self.line(&format!(
            "int[] faceVertexIndices = {}",
            whole(mesh.faces().flatten())
        ));
        self.line(&format!(
            "point3f[] points = {}",
            tuples(mesh.positions().iter().map(|p| p.as_vec3().to_array()))
        ));
        self.moving_points(motion);
        self.layers(
            mesh,
            matches!(
                motion,
                Some(Motion {
                    shape: Shape::Points(_),
                    ..
                })
            ),
        );
        self.line("uniform token subdivisionScheme = \"none\"");
        self.placement(motion);
        self.subsets(mesh.materials(), "materialBind", "material", root);
        self.subsets(mesh.groups(), "group", "group", root);
    }

    fn moving_points(&mut self, motion: Option<&Motion>) {
        let (
            Some(Motion {
                shape: Shape::Points(frames),
                ..
            }),
            Some(clip),
        ) = (motion, self.clip)
        else {
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
        let names = mesh.uv_layers().iter().map(|layer| {
            if layer.name.is_empty() {
                "st"
            } else {
                &layer.name
            }
        });
        let names = unlike_each_other(names);
        for (layer, name) in mesh.uv_layers().iter().zip(names) {
            self.primvar("texCoord2f", &name, layer, |uv| uv.as_vec2().to_array());
        }
        match mesh.normals() {
            // They fit the rest pose only, and would shade every frame.
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
        metadata.iter().for_each(|entry| self.line(entry));
        self.close(")");
    }

    fn primvar<T, const N: usize>(
        &mut self,
        kind: &str,
        name: &str,
        layer: &CornerLayer<T>,
        numbers: fn(&T) -> [f32; N],
    ) {
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
            whole(corners)
        ));
    }

    fn placement(&mut self, motion: Option<&Motion>) {
        let (
            Some(Motion {
                placement: Some(track),
                ..
            }),
            Some(clip),
        ) = (motion, self.clip)
        else {
            return;
        };
        self.line(&format!(
            "matrix4d xformOp:transform = {}",
            matrix(&DAffine3::IDENTITY)
        ));
        self.open("matrix4d xformOp:transform.timeSamples = {");
        for k in 0..clip.frame_count {
            let at = frame_code(clip, k);
            self.line(&format!("{at}: {},", matrix(&track.at(clip.time_secs(k)))));
        }
        self.close("}");
        self.line("uniform token[] xformOpOrder = [\"xformOp:transform\"]");
    }

    fn subsets(&mut self, labels: &FaceLabels, family: &str, prefix: &str, root: &str) {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); labels.names.len()];
        labels
            .of_face
            .iter()
            .enumerate()
            .for_each(|(face, &label)| members[label as usize].push(face));
        let names = unlike_each_other(labels.names.iter().map(String::as_str));
        for ((faces, name), shown) in members
            .iter()
            .zip(names)
            .zip(&labels.names)
            .filter(|(_, shown)| !shown.is_empty())
        {
            let material = self
                .materials
                .iter()
                .find(|(known, _)| family == "materialBind" && known == shown);
            let binding = material
                .map(|(_, name)| format!("rel material:binding = <{root}/{MATERIALS}/{name}>"));
            let schemas: &[&str] = if binding.is_some() {
                &["MaterialBindingAPI"]
            } else {
                &[]
            };
            self.prim("GeomSubset", &format!("{prefix}_{name}"), shown, schemas);
            binding.iter().for_each(|line| self.line(line));
            self.line("uniform token elementType = \"face\"");
            self.line(&format!("uniform token familyName = \"{family}\""));
            self.line(&format!("int[] indices = {}", whole(faces)));
            self.close("}");
        }
    }

    fn targets(&mut self, targets: &[Target], path: &str, skeleton: &str) {
        let names = unlike_each_other(targets.iter().map(|t| t.name.as_str()));
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
        self.line(&format!("rel skel:skeleton = <{skeleton}>"));
        for (target, name) in targets.iter().zip(&names) {
            self.prim("BlendShape", name, name, &[]);
            self.target(target);
            self.close("}");
        }
    }

    fn target(&mut self, target: &Target) {
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
        let names = unlike_each_other(target.in_betweens.iter().map(|b| b.name.as_str()));
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
        self.line(&format!("uniform int[] pointIndices = {}", whole(&moved)));
    }

    /// A skeleton without joints, which carries the weights.
    fn skeleton(&mut self, object: &Object, motion: Option<&Motion>, name: &str, path: &str) {
        self.prim("Skeleton", name, name, &["SkelBindingAPI"]);
        if let (
            Some(Motion {
                shape: Shape::Weights(track),
                ..
            }),
            Some(clip),
        ) = (motion, self.clip)
        {
            self.line(&format!("rel skel:animationSource = <{path}/Animation>"));
            self.prim("SkelAnimation", "Animation", "Animation", &[]);
            let tokens: Vec<String> = object
                .rig
                .targets()
                .iter()
                .map(|t| quoted(&t.name))
                .collect();
            self.line(&format!(
                "uniform token[] blendShapes = [{}]",
                tokens.join(", ")
            ));
            self.weights(track, clip);
            self.close("}");
        }
        self.close("}");
    }

    fn weights(&mut self, track: &WeightTrack, clip: &Animation) {
        self.open("float[] blendShapeWeights.timeSamples = {");
        let mut sample = |at: f64, weights: &[f64]| {
            self.line(&format!("{at}: {},", singles(weights.iter().copied())));
        };
        // Straight lines are USD's own; other curves are kept frame by frame.
        let straight = *track.interpolation() == Interpolation::Linear || track.keys().len() == 1;
        if straight {
            track
                .times_secs()
                .iter()
                .zip(track.keys())
                .for_each(|(&time, weights)| sample(code(clip, time), weights));
        } else {
            (0..clip.frame_count)
                .for_each(|k| sample(frame_code(clip, k), &track.at(clip.time_secs(k))));
        }
        self.curves += usize::from(!straight);
        self.close("}");
    }
}

/// The time code of a moment: whole where rounding alone keeps it from being so.
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

/// Appends the shortest decimal of single precision.
fn push_single(out: &mut String, value: f32) {
    let plain = value == 0.0 || (1e-5..1e9).contains(&value.abs());
    let done = if plain {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
    done.expect("writing to memory does not fail");
}

fn singles(values: impl Iterator<Item = f64>) -> String {
    let mut out = String::from("[");
    for (k, value) in values.enumerate() {
        out.push_str(if k == 0 { "" } else { ", " });
        push_single(&mut out, value as f32);
    }
    out + "]"
}

fn tuples<const N: usize>(rows: impl IntoIterator<Item = [f32; N]>) -> String {
    let mut out = String::from("[");
    for (k, row) in rows.into_iter().enumerate() {
        out.push_str(if k == 0 { "(" } else { ", (" });
        for (j, value) in row.into_iter().enumerate() {
            out.push_str(if j == 0 { "" } else { ", " });
            push_single(&mut out, value);
        }
        out.push(')');
    }
    out + "]"
}

fn extent(bounds: &Bounds) -> String {
    tuples([bounds.min, bounds.max].map(|p| p.as_vec3().to_array()))
}

fn whole<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    let mut out = String::from("[");
    for (k, value) in values.into_iter().enumerate() {
        let separator = if k == 0 { "" } else { ", " };
        let _ = write!(out, "{separator}{value}");
    }
    out + "]"
}

fn matrix(affine: &DAffine3) -> String {
    let row = |row: [f64; 4]| format!("({})", row.map(|x| x.to_string()).join(", "));
    format!(
        "( {} )",
        DMat4::from(*affine).to_cols_array_2d().map(row).join(", ")
    )
}

/// A text in quotes on one line.
fn quoted(text: &str) -> String {
    let clean = text
        .replace(char::is_control, " ")
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{clean}\"")
}
