//! Numbers of a scene that are NaN or infinite.

use ufbx::{Scene, Vec3};

use super::one_line;
use crate::parse::finite::NotFinite;

/// Notes numbers that are not finite, in all elements that are read.
pub(super) fn check(scene: &Scene, found: &NotFinite) {
    found.check([scene.settings.unit_meters], "the unit");
    found.check([scene.settings.frames_per_second], "the frame rate");

    for node in &scene.nodes {
        let name = || one_line(&node.element.name);
        let parts = [&node.local_transform, &node.geometry_transform];
        let numbers = parts.into_iter().flat_map(|part| {
            let turn = &part.rotation;
            let vectors = numbers_of(&part.translation).chain(numbers_of(&part.scale));
            vectors.chain([turn.x, turn.y, turn.z, turn.w])
        });
        found.check(numbers, format_args!("the transform of '{}'", name()));
    }

    for mesh in &scene.meshes {
        let name = one_line(&mesh.element.name);
        let positions = mesh.vertices.iter().flat_map(numbers_of);
        found.check(positions, format_args!("the vertices of mesh '{name}'"));
        let normals = mesh.vertex_normal.values.iter().flat_map(numbers_of);
        found.check(normals, format_args!("the normals of mesh '{name}'"));
        for set in &mesh.uv_sets {
            let uvs = set.vertex_uv.values.iter().flat_map(|uv| [uv.x, uv.y]);
            found.check(uvs, format_args!("the UVs of mesh '{name}'"));
        }
        for set in &mesh.color_sets {
            let colors = set.vertex_color.values.iter();
            let colors = colors.flat_map(|c| [c.x, c.y, c.z, c.w]);
            found.check(colors, format_args!("the colours of mesh '{name}'"));
        }
    }

    check_deformers(scene, found);
    for curve in &scene.anim_curves {
        let keys = curve.keyframes.iter();
        let numbers = keys.flat_map(|key| [key.time, key.value]);
        found.check(numbers, "a key of an animation");
    }
    for material in &scene.materials {
        let properties = material.element.props.props.iter();
        let numbers = properties.flat_map(|property| {
            let value = &property.value_vec4;
            [value.x, value.y, value.z, value.w]
        });
        let name = one_line(&material.element.name);
        found.check(numbers, format_args!("material '{name}'"));
    }
}

fn check_deformers(scene: &Scene, found: &NotFinite) {
    for cluster in &scene.skin_clusters {
        let m = &cluster.geometry_to_bone;
        let matrix = [
            m.m00, m.m01, m.m02, m.m03, m.m10, m.m11, m.m12, m.m13, m.m20, m.m21, m.m22, m.m23,
        ];
        let name = one_line(&cluster.element.name);
        found.check(matrix, format_args!("the bind pose of bone '{name}'"));
        let weights = cluster.weights.iter().copied();
        found.check(weights, format_args!("the weights of bone '{name}'"));
    }
    for shape in &scene.blend_shapes {
        let offsets = shape
            .position_offsets
            .iter()
            .chain(shape.normal_offsets.iter());
        let name = one_line(&shape.element.name);
        found.check(offsets.flat_map(numbers_of), format_args!("shape '{name}'"));
    }
    for channel in &scene.blend_channels {
        let weights = channel.keyframes.iter().map(|key| key.target_weight);
        let name = one_line(&channel.element.name);
        let numbers = weights.chain([channel.weight]);
        found.check(numbers, format_args!("the weights of '{name}'"));
    }
}

fn numbers_of(vector: &Vec3) -> impl Iterator<Item = f64> + use<> {
    [vector.x, vector.y, vector.z].into_iter()
}
