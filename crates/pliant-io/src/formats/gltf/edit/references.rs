//! References of extensions to targets by number.
//!
//! **Problem.** The expressions of a VRM avatar and the pointers of `KHR_animation_pointer` name a target
//! by its number. An edit may add, remove and reorder targets.
//!
//! **Method.** A reference follows its target to the new number. A bind of an expression to a removed
//! target is removed. What cannot follow is reported.
//!
//! **Source.** VRM Consortium, "VRM 0.x" (`blendShapeMaster`) and "VRMC_vrm-1.0" (`expressions`); the Khronos
//! Group, `KHR_animation_pointer`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::DocumentEdit;

/// New numbers of the targets of one mesh; `None` for a removed one.
type Numbers = Vec<Option<usize>>;

impl DocumentEdit<'_> {
    /// Makes all known references follow the targets of edited meshes.
    pub(super) fn references(&mut self) -> Option<()> {
        let mut of_mesh: HashMap<usize, Numbers> = HashMap::new();
        let mut of_node: HashMap<usize, Numbers> = HashMap::new();
        for object in 0..self.changes.len() {
            let Some(numbers) = self.new_numbers(object) else {
                continue;
            };
            for node in self.nodes_of(object) {
                of_node.insert(node, numbers.clone());
            }
            of_mesh.insert(self.before.placed[object].mesh, numbers);
        }
        if of_mesh.is_empty() {
            return Some(());
        }

        let mut lost = 0;
        let extensions = self.json.get_mut("extensions");
        if let Some(extensions) = extensions {
            lost += follow_vrm_0(extensions, &of_mesh);
            lost += follow_vrm_1(extensions, &of_node);
        }
        if lost > 0 {
            self.left_out
                .push(format!("{lost} bind(s) of expressions to removed targets"));
        }

        let pointers = follow_pointers(&mut self.json, &of_mesh, &of_node);
        if pointers > 0 {
            self.left_out.push(format!(
                "{pointers} animation pointer(s) to weights, which may be wrong now"
            ));
        }
        if self
            .source
            .document
            .extensions_used
            .iter()
            .any(|name| name == "KHR_interactivity")
        {
            self.left_out.push(
                "new numbers of targets in the extension 'KHR_interactivity' (its references may be wrong)".into(),
            );
        }
        Some(())
    }

    /// Where each target of the file is now; `None` if all kept their numbers.
    fn new_numbers(&self, object: usize) -> Option<Numbers> {
        let changes = &self.changes[object];
        let old = self.before.asset.objects[object].rig.targets().len();
        let sources = &changes.source_target;
        let new = |k: usize| sources.iter().position(|source| *source == Some(k));
        let numbers: Numbers = (0..old).map(new).collect();
        let mut pairs = numbers.iter().enumerate();
        let same = pairs.all(|(k, number)| *number == Some(k));
        (changes.target_list() && !same).then_some(numbers)
    }
}

/// Gives a bind its new number; `false` if its target was removed.
fn follow(bind: &mut Value, numbers: Option<&Numbers>) -> bool {
    let index = bind.get("index").and_then(Value::as_u64);
    let known = numbers
        .zip(index)
        .and_then(|(n, index)| n.get(index as usize));
    match known {
        None => true,
        Some(Some(number)) => {
            bind["index"] = json!(number);
            true
        }
        Some(None) => false,
    }
}

/// Removes the binds that cannot follow and counts them.
fn follow_all(binds: Option<&mut Value>, owner: &str, numbers: &HashMap<usize, Numbers>) -> usize {
    let Some(binds) = binds.and_then(Value::as_array_mut) else {
        return 0;
    };
    let before = binds.len();
    binds.retain_mut(|bind| {
        let owner = bind.get(owner).and_then(Value::as_u64);
        follow(bind, owner.and_then(|k| numbers.get(&(k as usize))))
    });
    before - binds.len()
}

/// VRM 0: binds name a mesh.
fn follow_vrm_0(extensions: &mut Value, of_mesh: &HashMap<usize, Numbers>) -> usize {
    let groups = extensions
        .get_mut("VRM")
        .and_then(|vrm| vrm.get_mut("blendShapeMaster"))
        .and_then(|master| master.get_mut("blendShapeGroups"))
        .and_then(Value::as_array_mut);
    let groups = groups.into_iter().flatten();
    groups
        .map(|group| follow_all(group.get_mut("binds"), "mesh", of_mesh))
        .sum()
}

/// VRM 1: binds name a node.
fn follow_vrm_1(extensions: &mut Value, of_node: &HashMap<usize, Numbers>) -> usize {
    let expressions = extensions
        .get_mut("VRMC_vrm")
        .and_then(|vrm| vrm.get_mut("expressions"));
    let Some(expressions) = expressions else {
        return 0;
    };
    let mut lost = 0;
    for kind in ["preset", "custom"] {
        let all = expressions.get_mut(kind).and_then(Value::as_object_mut);
        for expression in all.into_iter().flat_map(|all| all.values_mut()) {
            lost += follow_all(expression.get_mut("morphTargetBinds"), "node", of_node);
        }
    }
    lost
}

/// Pointers such as `/nodes/3/weights/5`. Returns how many cannot follow: those to removed targets, and
/// those to all weights of a mesh at once.
fn follow_pointers(
    document: &mut Value,
    of_mesh: &HashMap<usize, Numbers>,
    of_node: &HashMap<usize, Numbers>,
) -> usize {
    let animations = document.get_mut("animations").and_then(Value::as_array_mut);
    let mut lost = 0;
    for animation in animations.into_iter().flatten() {
        let channels = animation.get_mut("channels").and_then(Value::as_array_mut);
        for channel in channels.into_iter().flatten() {
            let pointer = channel.pointer_mut("/target/extensions/KHR_animation_pointer/pointer");
            let Some(pointer) = pointer else { continue };
            let text = pointer.as_str().unwrap_or_default();
            let steps: Vec<&str> = text.split('/').collect();
            let (owner, weight) = match steps[..] {
                ["", kind, owner, "weights"] => ((kind, owner), None),
                ["", kind, owner, "weights", weight] => ((kind, owner), Some(weight)),
                _ => continue,
            };

            let index = owner.1.parse::<usize>().ok();
            let numbers = index.and_then(|index| match owner.0 {
                "meshes" => of_mesh.get(&index),
                "nodes" => of_node.get(&index),
                _ => None,
            });
            let Some(numbers) = numbers else { continue };
            let weight = weight.and_then(|weight| weight.parse::<usize>().ok());
            match weight.and_then(|weight| *numbers.get(weight)?) {
                Some(number) => {
                    *pointer = json!(format!("/{}/{}/weights/{number}", owner.0, owner.1));
                }
                None => lost += 1,
            }
        }
    }
    lost
}
