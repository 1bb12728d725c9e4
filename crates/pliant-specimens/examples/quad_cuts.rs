//! temporary
fn main() {
    for name in ["hand", "hound"] {
        let s = pliant_specimens::specimen(name).unwrap();
        for c in &s.clips {
            let n: Vec<usize> = (0..c.frames().len())
                .step_by(if name == "hand" { 1 } else { 2 })
                .map(|k| c.mesh_at(k).unwrap().self_intersections().unwrap().len())
                .collect();
            println!("{} {n:?}", c.name());
        }
    }
}
