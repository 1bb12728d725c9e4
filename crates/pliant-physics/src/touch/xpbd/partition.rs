//! Partition of points into blocks of neighbours.
//!
//! **Problem.** Threads may not move the same vertex at the same time, and results may not depend
//! on the number of threads.
//!
//! **Departures.** Points are halved along their longest extent until a block is small enough,
//! independent of the number of threads. Within a block points are in the order of further
//! halvings, so that neighbours are near in memory.

use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

/// Sets of so few points are not halved; they lie within a few cache lines.
const LEAF: usize = 8;

/// The points of each block, by index, out of those in `part`.
pub(crate) fn blocks(points: &[DVec3], part: &[u32], most: usize) -> Vec<Vec<u32>> {
    let mut blocks = Vec::new();
    halve(points, part.to_vec(), most.max(1), &mut blocks);
    blocks
}

fn halve(points: &[DVec3], mut order: Vec<u32>, most: usize, blocks: &mut Vec<Vec<u32>>) {
    if order.len() <= most {
        order_within(points, &mut order);
        blocks.push(order);
        return;
    }
    let middle = split(points, &mut order);
    let upper = order.split_off(middle);
    halve(points, order, most, blocks);
    halve(points, upper, most, blocks);
}

fn order_within(points: &[DVec3], order: &mut [u32]) {
    if order.len() > LEAF {
        let middle = split(points, order);
        let (left, right) = order.split_at_mut(middle);
        order_within(points, left);
        order_within(points, right);
    }
}

/// Sorts the lower half before the upper one, along the longest extent.
fn split(points: &[DVec3], order: &mut [u32]) -> usize {
    let mine: Vec<DVec3> = order.iter().map(|&k| points[k as usize]).collect();
    let size = Bounds::of(&mine).map_or(DVec3::ZERO, |bounds| bounds.size());

    // Ties go to the lower axis and the lower index.
    let axis = (0..3)
        .max_by(|&a, &b| size[a].total_cmp(&size[b]).then(b.cmp(&a)))
        .expect("there are three axes");
    let middle = order.len() / 2;

    order.select_nth_unstable_by(middle, |&a, &b| {
        points[a as usize][axis]
            .total_cmp(&points[b as usize][axis])
            .then(a.cmp(&b))
    });

    middle
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn every_point_is_in_one_block_and_blocks_are_small() {
        let ball = icosphere(4);
        let all: Vec<u32> = (0..ball.vertex_count() as u32).collect();
        for most in [1, 7, 100, 10_000] {
            let blocks = blocks(ball.positions(), &all, most);
            assert!(
                blocks
                    .iter()
                    .all(|block| block.len() <= most && !block.is_empty())
            );

            let mut found: Vec<u32> = blocks.into_iter().flatten().collect();
            found.sort_unstable();
            assert_eq!(found, all);
        }
    }
}
