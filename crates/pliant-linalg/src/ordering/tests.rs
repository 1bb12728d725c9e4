use super::*;
use crate::SparseMatrix;

fn graph_of_edges(n: usize, edges: &[(u32, u32)]) -> Graph {
    let triplets: Vec<_> = edges
        .iter()
        .flat_map(|&(a, b)| [(a, b, -1.0), (b, a, -1.0)])
        .collect();
    Graph::of_matrix(&SparseMatrix::from_triplets(n, n, &triplets))
}

fn grid(width: u32, height: u32) -> Vec<(u32, u32)> {
    let at = |x: u32, y: u32| y * width + x;
    let mut edges = Vec::new();
    for y in 0..height {
        for x in 0..width {
            if x + 1 < width {
                edges.push((at(x, y), at(x + 1, y)));
            }
            if y + 1 < height {
                edges.push((at(x, y), at(x, y + 1)));
            }
            if x + 1 < width && y + 1 < height {
                edges.push((at(x, y), at(x + 1, y + 1)));
            }
        }
    }

    edges
}

fn assert_permutation(order: &[u32], n: usize) {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
}

#[test]
fn every_vertex_has_one_place_on_graphs_of_all_kinds() {
    let path: Vec<_> = (1..5000).map(|i| (i - 1, i)).collect();
    let star: Vec<_> = (1..5000).map(|i| (0, i)).collect();
    let complete: Vec<_> = (0..200).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    let triangles: Vec<_> = (0..1000)
        .flat_map(|t| {
            [
                (3 * t, 3 * t + 1),
                (3 * t + 1, 3 * t + 2),
                (3 * t, 3 * t + 2),
            ]
        })
        .collect();

    let two_hubs: Vec<_> = (2..400).flat_map(|i| [(0, i), (1, i)]).collect();
    let cases: [(usize, &[(u32, u32)]); 8] = [
        (0, &[]),
        (1, &[]),
        (3000, &[]),
        (5000, &path),
        (5000, &star),
        (200, &complete),
        (3000, &triangles),
        (400, &two_hubs),
    ];

    for (n, edges) in cases {
        assert_permutation(&nested_dissection(&graph_of_edges(n, edges), None), n);
    }

    let mut parts = grid(50, 40);
    parts.extend(grid(30, 30).iter().map(|&(a, b)| (a + 2000, b + 2000)));
    assert_permutation(
        &nested_dissection(&graph_of_edges(3000, &parts), None),
        3000,
    );
}

/// Parts share edges only with those above and below them, and weigh what their vertices do.
fn assert_valid(graph: &Graph, tree: &CutTree) {
    for v in 0..graph.len() {
        for &u in graph.neighbours(v) {
            let upper = tree.of[v].min(tree.of[u as usize]);
            let lower = tree.of[v].max(tree.of[u as usize]);
            assert!(
                lower < tree.parts[upper as usize].end,
                "an edge leads from part {upper} past its cuts to part {lower}"
            );
        }
    }
    for (part, members) in tree.parts.iter().zip(tree.members()) {
        assert_eq!(
            part.weight,
            members
                .iter()
                .map(|&v| graph.weights[v as usize])
                .sum::<u32>()
        );
    }
}

#[test]
fn all_cuts_of_a_grid_separate_their_sides_and_are_shorter_than_before_refinement() {
    let graph = graph_of_edges(120 * 90, &grid(120, 90));
    let clusters = cluster_twice(&graph);
    let coarse = contract(&graph, &clusters);
    let rough = dissect(&coarse, &Guide::Clusters(cluster_twice(&coarse))).on_members(&clusters);

    assert_valid(&graph, &rough);
    let fine = refine_all(&graph, rough.clone());
    assert_valid(&graph, &fine);

    let weight_of_cuts = |tree: &CutTree| {
        (0..tree.parts.len())
            .filter(|&p| tree.is_cut(p as u32))
            .map(|p| tree.parts[p].weight)
            .sum::<u32>()
    };

    assert!(f64::from(weight_of_cuts(&fine)) < 0.7 * f64::from(weight_of_cuts(&rough)));
}

#[test]
fn a_cut_separates_its_sides_and_is_about_as_long_as_the_short_edge_of_a_grid() {
    let graph = graph_of_edges(200 * 50, &grid(200, 50));
    let tree = bisect(&graph, &cluster_twice(&graph));
    assert_valid(&graph, &tree);
    let [first, second, cut] = tree.lists().map(|list| list.len());
    assert!(cut <= 60, "{cut} vertices in the cut of a strip 50 wide");
    assert!(first.min(second) >= 3500);
}

#[test]
fn twins_are_merged_into_one_vertex_of_their_total_weight() {
    // A grid whose every vertex is three unknowns, all joined.
    let mut edges = Vec::new();
    for (a, b) in grid(6, 5) {
        edges.extend((0..9).map(|k| (3 * a + k / 3, 3 * b + k % 3)));
    }

    edges.extend((0..30).flat_map(|v| {
        [
            (3 * v, 3 * v + 1),
            (3 * v, 3 * v + 2),
            (3 * v + 1, 3 * v + 2),
        ]
    }));

    let compressed = Compressed::new(graph_of_edges(90, &edges));
    let plain = graph_of_edges(30, &grid(6, 5));
    assert_eq!(compressed.graph.len(), 30);

    for v in 0..30 {
        assert_eq!(compressed.graph.neighbours(v), plain.neighbours(v));
        assert_eq!(compressed.graph.weight(v), 3);
        assert_eq!(
            compressed.members(v),
            [3 * v as u32, 3 * v as u32 + 1, 3 * v as u32 + 2]
        );
    }
}

#[test]
fn minimum_degree_orders_a_tree_without_fill() {
    let tree: Vec<_> = (1..100_u32)
        .map(|i| (i / 2, i))
        .filter(|&(a, b)| a != b)
        .collect();
    let graph = graph_of_edges(100, &tree);
    let order = nested_dissection(&graph, None);

    let mut place = [0; 100];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = k;
    }

    for v in 0..100 {
        let later = graph
            .neighbours(v)
            .iter()
            .filter(|&&u| place[u as usize] > place[v])
            .count();
        assert!(
            later <= 1,
            "vertex {v} still has {later} neighbours when it is eliminated"
        );
    }
}

#[cfg(feature = "parallel")]
#[test]
fn the_order_is_the_same_on_one_thread_and_on_four() {
    let graph = graph_of_edges(100 * 90, &grid(100, 90));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool of threads");
        pool.install(|| nested_dissection(&graph, None))
    };
    assert_eq!(on(1), on(4));
}
