//! Bones as joints: where they stand and which hangs on which.
//!
//! **Form.** A joint stands in the mean of the vertices that follow it, by their weights. Joints
//! that share vertices are neighbours, the closer the more of the weight they share (`Σᵥ wᵥⱼ wᵥₖ`);
//! the tree of greatest sharing, from the joint that most weight follows, is the skeleton. Joints
//! that share nothing with it begin trees of their own.

use pliant_mesh::glam::{DQuat, DVec3};
use pliant_rig::{Joint, Skeleton, Skin};

/// The skeleton of a skin over vertices at `rest`.
pub(super) fn skeleton_of(skin: &Skin, rest: &[DVec3]) -> Skeleton {
    let digits = skin.bone_count().saturating_sub(1).to_string().len();
    let joints = skin
        .centers(rest)
        .into_iter()
        .zip(parents(skin))
        .enumerate();
    let joint = |(k, (origin, parent)): (usize, (DVec3, Option<usize>))| Joint {
        name: format!("bone_{k:0digits$}"),
        origin,
        axes: DQuat::IDENTITY,
        parent,
    };
    Skeleton::new(joints.map(joint).collect()).expect("a tree has no rings")
}

/// The parents in the tree of greatest sharing (Prim's algorithm).
fn parents(skin: &Skin) -> Vec<Option<usize>> {
    let count = skin.bone_count();
    let mut shared: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    let mut mass = vec![0.0; count];
    for vertex in 0..skin.vertex_count() {
        let own = skin.influences(vertex);
        for a in own {
            mass[a.bone as usize] += a.weight;
            shared[a.bone as usize].extend(
                own.iter()
                    .filter(|b| b.bone != a.bone)
                    .map(|b| (b.bone as usize, a.weight * b.weight)),
            );
        }
    }
    for list in &mut shared {
        list.sort_by_key(|entry| entry.0);
        *list = list
            .chunk_by(|a, b| a.0 == b.0)
            .map(|run| (run[0].0, run.iter().map(|entry| entry.1).sum()))
            .collect();
    }
    let (mut parent, mut strength, mut placed) =
        (vec![None; count], vec![0.0; count], vec![false; count]);
    for _ in 0..count {
        // The one that shares most with the tree; else the one that most weight follows begins a
        // new tree.
        let free = (0..count).filter(|&k| !placed[k]);
        let better = |a: usize, b: usize| {
            if (strength[b], mass[b]) > (strength[a], mass[a]) {
                b
            } else {
                a
            }
        };
        let next = free.reduce(better).expect("as many as are counted");
        placed[next] = true;
        for &(other, share) in &shared[next] {
            if !placed[other] && share > strength[other] {
                (parent[other], strength[other]) = (Some(next), share);
            }
        }
    }
    parent
}

#[cfg(test)]
mod tests {
    use pliant_rig::Influence;

    use super::*;

    #[test]
    fn a_chain_of_bones_is_a_chain_of_joints_and_a_loose_one_stands_alone() {
        let share = |shares: &[(u32, f64)]| {
            shares
                .iter()
                .map(|&(bone, weight)| Influence { bone, weight })
                .collect::<Vec<_>>()
        };
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
