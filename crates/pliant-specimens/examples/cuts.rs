//! temporary
use std::collections::BTreeMap;
fn main() {
    let t = std::time::Instant::now();
    let s = pliant_specimens::specimen("head").unwrap();
    eprintln!("built in {:?}", t.elapsed());
    let report = |name: &str, m: &pliant_mesh::Mesh| {
        let cuts = m.self_intersections().unwrap();
        let mut by: BTreeMap<String, (usize, String)> = BTreeMap::new();
        for [a, b] in &cuts {
            let mat = |t: u32| m.materials().of(m.triangle_faces()[t as usize] as usize).unwrap().to_string();
            let (x, y) = (mat(*a), mat(*b));
            let key = if x < y { format!("{x}-{y}") } else { format!("{y}-{x}") };
            let p = m.triangle_points(*a as usize)[0];
            let e = by.entry(key).or_insert((0, format!("{p:.2}")));
            e.0 += 1;
        }
        eprintln!("{name}: {} {by:?}", cuts.len());
    };
    report("neutral", s.rig.neutral());
    for (k, target) in s.rig.targets().iter().enumerate() {
        if target.name.ends_with("Right") {
            continue;
        }
        let mut w = vec![0.0; s.rig.targets().len()];
        w[k] = 1.0;
        report(&target.name, &s.rig.neutral().posed(s.rig.evaluate(&w)).unwrap());
    }
}
