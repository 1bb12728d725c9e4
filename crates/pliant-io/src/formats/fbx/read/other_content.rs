//! What an FBX scene holds besides meshes, skins, materials and clips.

use ufbx::{ElementType, PropFlags, Scene, SkinningMethod, SubdivisionDisplayMode};

/// Describes the rest of a scene, one phrase each.
pub(super) fn phrases(scene: &Scene) -> Vec<String> {
    let mut phrases = Vec::new();
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            phrases.push(format!("{count} {what}"));
        }
    };

    add(scene.lights.len(), "light(s)");
    add(
        scene.cameras.len() + scene.stereo_cameras.len(),
        "camera(s)",
    );
    add(empty_nodes(scene), "node(s) without a mesh");
    add(
        scene.line_curves.len() + scene.nurbs_curves.len(),
        "curve(s)",
    );
    add(
        scene.nurbs_surfaces.len() + scene.nurbs_trim_surfaces.len(),
        "NURBS surface(s)",
    );
    add(scene.procedural_geometries.len(), "procedural geometr(ies)");
    add(scene.markers.len(), "marker(s)");
    add(scene.lod_groups.len(), "group(s) of levels of detail");
    add(scene.constraints.len(), "constraint(s)");
    add(scene.characters.len(), "character definition(s)");
    add(scene.display_layers.len(), "display layer(s)");
    add(scene.selection_sets.len(), "selection set(s)");
    add(scene.audio_clips.len(), "audio clip(s)");
    add(user_properties(scene), "node(s) with custom properties");
    add(scene.unknowns.len(), "element(s) of unknown kinds");
    add(scene.camera_switchers.len(), "camera switcher(s)");

    let meshes = |is: fn(&ufbx::Mesh) -> bool| scene.meshes.iter().filter(|mesh| is(mesh)).count();
    add(
        meshes(|mesh| {
            mesh.edge_crease
                .iter()
                .chain(&mesh.vertex_crease.values)
                .any(|c| *c != 0.0)
        }),
        "mesh(es) with creases",
    );
    add(
        meshes(|mesh| mesh.subdivision_display_mode as u32 > SubdivisionDisplayMode::Hull as u32),
        "mesh(es) with subdivision (their cages are kept)",
    );
    add(
        meshes(|mesh| mesh.vertex_tangent.exists),
        "mesh(es) with tangents",
    );
    add(
        meshes(|mesh| mesh.face_hole.iter().any(|hole| *hole)),
        "mesh(es) with holes (they are faces now)",
    );

    let curved = |skin: &&ufbx::SkinDeformer| {
        !matches!(
            skin.skinning_method,
            SkinningMethod::Linear | SkinningMethod::Rigid
        )
    };
    let skins = scene.skin_deformers.iter().map(|skin| &**skin);
    add(
        skins.filter(curved).count(),
        "dual quaternion skin(s) (their clips are kept as positions)",
    );
    let hidden = |node: &&ufbx::Node| node.mesh.is_some() && !node.visible;
    let nodes = scene.nodes.iter().map(|node| &**node);
    add(
        nodes.filter(hidden).count(),
        "hidden node(s) (they are visible now)",
    );
    add(
        scene
            .anim_stacks
            .iter()
            .map(|stack| stack.layers.len().saturating_sub(1))
            .sum(),
        "animation layer(s) (their result is kept)",
    );
    phrases
}

/// Nodes that hold nothing and are above neither a mesh nor a bone.
fn empty_nodes(scene: &Scene) -> usize {
    let mut used = vec![false; scene.nodes.len()];
    for node in &scene.nodes {
        let mut at = (node.mesh.is_some() || node.bone.is_some()).then_some(node);
        while let Some(node) = at {
            let known = used.get_mut(node.element.typed_id as usize);
            if known.is_none_or(|known| std::mem::replace(known, true)) {
                break;
            }
            at = node.parent.as_deref();
        }
    }

    let nodes = scene.nodes.iter().zip(&used);
    let holds_other =
        |node: &ufbx::Node| node.attrib.is_some() && node.attrib_type != ElementType::Empty;
    nodes
        .filter(|(node, used)| !**used && !node.is_root && !holds_other(node))
        .count()
}

fn user_properties(scene: &Scene) -> usize {
    let custom = |node: &&ufbx::Node| {
        let mut props = node.element.props.props.iter();
        props.any(|prop| prop.flags.has_any(PropFlags::USER_DEFINED))
    };
    scene
        .nodes
        .iter()
        .map(|node| &**node)
        .filter(custom)
        .count()
}
