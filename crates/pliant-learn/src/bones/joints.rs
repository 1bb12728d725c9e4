//! Skeleton of a skinning decomposition: joint positions and parents.
//!
//! **Method.** A joint is at the weighted mean of the vertices that it moves. Joints that share
//! vertices are neighbours; the strength of the connection is the shared weight (`Σᵥ wᵥⱼ wᵥₖ`). The
//! skeleton is the maximum spanning tree, with the joint of the greatest total weight as its root.
//! Joints without a connection to it are roots of their own trees.

use pliant_mesh::glam::{DQuat, DVec3};
use pliant_rig::{Joint, Skeleton, Skin};

/// The skeleton of a skin over vertices at `rest`.
pub(super) fn skeleton_of(skin: &Skin, rest: &[DVec3]) -> Skeleton {
    let digits = skin.bone_count().saturating_sub(1).to_string().len();
    let mut joints = Vec::with_capacity(skin.bone_count());
    for (k, (origin, parent)) in skin
        .centers(rest)
        .into_iter()
        .zip(parents(skin))
        .enumerate()
    {
        joints.push(Joint {
            name: format!("bone_{k:0digits$}"),
            origin,
            axes: DQuat::IDENTITY,
            parent,
        });
    }
    Skeleton::new(joints).expect("a tree has no cycles")
}

/// The parents in the maximum spanning tree (Prim's algorithm).
fn parents(skin: &Skin) -> Vec<Option<usize>> {
    let count = skin.bone_count();
    let (shared, mass) = shared_weights(skin);
    let mut parent = vec![None; count];
    let mut strength = vec![0.0; count];
    let mut placed = vec![false; count];

    for _ in 0..count {
        // The joint with the strongest connection to the tree; without one, the joint of the
        // greatest weight is the root of a new tree.
        let free = (0..count).filter(|&k| !placed[k]);
        let next = free
            .reduce(|a, b| {
                if (strength[b], mass[b]) > (strength[a], mass[a]) {
                    b
                } else {
                    a
                }
            })
            .expect("there is one free joint per iteration");

        placed[next] = true;
        for &(other, weight) in &shared[next] {
            if !placed[other] && weight > strength[other] {
                (parent[other], strength[other]) = (Some(next), weight);
            }
        }
    }

    parent
}

/// The bones that share vertices with each bone, with `Σᵥ wᵥⱼ wᵥₖ`; and the total weight of each.
fn shared_weights(skin: &Skin) -> (Vec<Vec<(usize, f64)>>, Vec<f64>) {
    let mut shared: Vec<Vec<(usize, f64)>> = vec![Vec::new(); skin.bone_count()];
    let mut mass = vec![0.0; skin.bone_count()];
    for vertex in 0..skin.vertex_count() {
        let own = skin.influences(vertex);
        for a in own {
            mass[a.bone as usize] += a.weight;
            for b in own.iter().filter(|b| b.bone != a.bone) {
                shared[a.bone as usize].push((b.bone as usize, a.weight * b.weight));
            }
        }
    }

    // Contributions of all vertices to the same pair are added.
    for list in &mut shared {
        list.sort_by_key(|entry| entry.0);
        *list = list
            .chunk_by(|a, b| a.0 == b.0)
            .map(|run| (run[0].0, run.iter().map(|entry| entry.1).sum()))
            .collect();
    }
    (shared, mass)
}

#[cfg(test)]
mod tests {
    use pliant_rig::Influence;

    use super::*;

    #[test]
    fn a_chain_of_bones_is_a_chain_of_joints_and_a_separate_bone_is_a_root() {
        let share = |shares: &[(u32, f64)]| {
            shares
                .iter()
                .map(|&(bone, weight)| Influence { bone, weight })
                .collect::<Vec<_>>()
        };

        // Bones 0 - 2 - 1 share vertices; bone 3 shares none.
        let vertices = [
            &[(0, 1.0)][..],
            &[(0, 0.6), (2, 0.4)],
            &[(2, 1.0)],
            &[(2, 0.5), (1, 0.5)],
            &[(1, 0.2), (2, 0.8)],
            &[(3, 1.0)],
        ];

        let skin = Skin::new(4, vertices.map(share)).unwrap();
        let rest: Vec<DVec3> = (0..6).map(|k| DVec3::X * f64::from(k)).collect();
        let skeleton = skeleton_of(&skin, &rest);
        let parents: Vec<Option<usize>> =
            skeleton.joints().iter().map(|joint| joint.parent).collect();

        assert_eq!(parents, [Some(2), Some(2), None, None]);
        assert_eq!(
            (
                skeleton.joints()[3].origin,
                skeleton.joints()[3].name.as_str()
            ),
            (DVec3::X * 5.0, "bone_3")
        );
    }
}
