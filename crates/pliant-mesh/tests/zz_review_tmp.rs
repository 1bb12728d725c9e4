use glam::{DMat3, DVec3};
use pliant_mesh::*;
use std::time::Instant;

fn sphere(n: usize, scale: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    // latitude-longitude sphere, n rings of 2n
    let (rings, around) = (n, 2 * n);
    let mut p = vec![DVec3::Z * scale];
    for i in 1..rings {
        let th = std::f64::consts::PI * i as f64 / rings as f64;
        for j in 0..around {
            let ph = std::f64::consts::TAU * (j as f64 + 0.3 * i as f64) / around as f64;
            p.push(DVec3::new(th.sin() * ph.cos(), th.sin() * ph.sin(), th.cos()) * scale);
        }
    }
    p.push(-DVec3::Z * scale);
    let at = |i: usize, j: usize| (1 + (i - 1) * around + j % around) as u32;
    let mut t = Vec::new();
    for j in 0..around {
        t.push([0, at(1, j), at(1, j + 1)]);
        t.push([p.len() as u32 - 1, at(rings - 1, j + 1), at(rings - 1, j)]);
    }
    for i in 1..rings - 1 {
        for j in 0..around {
            t.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            t.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    (p, t)
}
fn disc(n: u32) -> Mesh {
    let mut p = vec![DVec3::ZERO];
    p.extend((0..n).map(|k| {
        let a = std::f64::consts::TAU * k as f64 / n as f64;
        DVec3::new(a.cos(), a.sin(), 0.0)
    }));
    let t: Vec<[u32; 3]> = (0..n).map(|k| [0, 1 + k, 1 + (k + 1) % n]).collect();
    Mesh::from_triangles(p, &t).unwrap()
}
#[test]
fn pillow() {
    for rot in 0..3 {
        for rot2 in 0..3 {
            let p = vec![DVec3::ZERO, DVec3::X, DVec3::new(0.5, 0.1, 0.0)];
            let a = [0u32, 1, 2];
            let b = [1u32, 0, 2];
            let t = [[a[rot], a[(rot + 1) % 3], a[(rot + 2) % 3]], [b[rot2], b[(rot2 + 1) % 3], b[(rot2 + 2) % 3]]];
            let m = Mesh::from_triangles(p, &t).unwrap();
            let i = IntrinsicTriangulation::of(&m).delaunay();
            println!("pillow {rot} {rot2}: {:?} {:?} area {}", i.triangles(), i.lengths(), i.area(0) + i.area(1));
        }
    }
}
#[test]
fn nan_rotation() {
    let m = DMat3::from_cols_array(&[f64::NAN, 0., 0., 0., 1., 0., 0., 0., 1.]);
    println!("nan -> {:?}", pliant_linalg::nearest_rotation(m));
    println!("1e160 -> {:?}", pliant_linalg::nearest_rotation(DMat3::from_rotation_x(1.0) * 1e160));
}
#[test]
fn heat_scales() {
    let (p, t) = sphere(20, 1.0);
    for e in [-20, -15, -12, -9, 0, 9, 12, 40] {
        let s = 10f64.powi(e);
        let m = Mesh::from_triangles(p.iter().map(|q| *q * s).collect(), &t).unwrap();
        for v in [HeatVariant::Anchored, HeatVariant::Published] {
            match HeatGeodesics::factor(&m, &HeatOptions::default().with_variant(v)) {
                Ok(h) => {
                    let d = h.distances(&[SurfacePoint::Vertex(0)]).unwrap();
                    println!("heat 1e{e} {v:?}: {}", d[d.len() - 1] / s);
                }
                Err(x) => println!("heat 1e{e}: {x}"),
            }
        }
    }
}
#[test]
fn heat_mixed_components() {
    for s in [1e-3, 1e-5, 1e-7] {
        let (mut p, mut t) = sphere(20, 1.0);
        let (q, u) = sphere(20, s);
        let n = p.len() as u32;
        p.extend(q.iter().map(|x| *x + DVec3::X * 5.0));
        t.extend(u.iter().map(|x| x.map(|v| v + n)));
        let m = Mesh::from_triangles(p, &t).unwrap();
        for v in [HeatVariant::Anchored, HeatVariant::Published] {
            let h = HeatGeodesics::factor(&m, &HeatOptions::default().with_variant(v)).unwrap();
            let d = h.distances(&[SurfacePoint::Vertex(n)]).unwrap();
            println!("mixed {s} {v:?}: {}", d[d.len() - 1] / s);
        }
    }
}
#[test]
fn exact_mixed() {
    for s in [1.0, 1e-1, 1e-2, 1e-3] {
        let (mut p, mut t) = sphere(30, 1.0);
        let (q, u) = sphere(30, s);
        let n = p.len() as u32;
        p.extend(q);
        t.extend(u.iter().map(|x| x.map(|v| v + n)));
        let m = Mesh::from_triangles(p, &t).unwrap();
        let mut g = ExactGeodesics::new(&m).unwrap();
        let now = Instant::now();
        let r = 0.6 * s;
        let d = g.disc(&[SurfacePoint::Vertex(n + 500)], r).unwrap();
        println!("exact mixed {s}: {} vertices {:?}", d.vertices.len(), now.elapsed());
    }
}
#[test]
fn doubled_grid() {
    for n in [6u32, 8, 10, 12] {
        let mut p = Vec::new();
        for i in 0..=n {
            for j in 0..=n {
                p.push(DVec3::new(i as f64, j as f64, 0.0));
            }
        }
        let at = |i: u32, j: u32| i * (n + 1) + j;
        let mut f = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let q = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                f.push(q.to_vec());
                f.push(vec![q[1], q[2], q[3], q[0]]);
            }
        }
        let m = Mesh::from_polygons(p, &f).unwrap();
        let mut g = ExactGeodesics::new(&m).unwrap();
        for r in [2.0, 3.0, 4.0] {
            let now = Instant::now();
            let d = g.disc(&[SurfacePoint::Vertex(at(n / 2, n / 2))], r).unwrap();
            println!("doubled {n} r {r}: {} {:?}", d.vertices.len(), now.elapsed());
            if now.elapsed().as_secs() > 3 {
                return;
            }
        }
    }
}
#[test]
fn hubs() {
    for n in [10_000u32, 20_000, 40_000] {
        let m = disc(n);
        let now = Instant::now();
        m.topology();
        println!("hub {n} topology {:?}", now.elapsed());
        let now = Instant::now();
        let h = Health::of(&m);
        println!("hub {n} health {:?} {}", now.elapsed(), h.boundary_loops);
        let now = Instant::now();
        let h = HeatGeodesics::factor(&m, &HeatOptions::default()).unwrap();
        println!("hub {n} heat {:?}", now.elapsed());
        let now = Instant::now();
        h.distances(&[SurfacePoint::Vertex(5)]).unwrap();
        println!("hub {n} heat distances {:?}", now.elapsed());
    }
}
#[test]
fn hub_decimate() {
    for n in [2_000u32, 4_000, 8_000] {
        let m = disc(n);
        for place in [VertexPlacement::Optimal, VertexPlacement::Subset] {
            let now = Instant::now();
            let d = m.decimated(DecimationBudget::Vertices(100), &DecimationOptions::default().with_placement(place)).unwrap();
            println!("hub {n} decimate {:?} {} {}", now.elapsed(), d.budget_met(), d.mesh().vertex_count());
        }
    }
}
#[test]
fn book() {
    for n in [5_000u32, 10_000, 20_000] {
        let mut p = vec![DVec3::ZERO, DVec3::Z];
        p.extend((0..n).map(|k| {
            let a = std::f64::consts::TAU * k as f64 / n as f64;
            DVec3::new(a.cos(), a.sin(), 0.0)
        }));
        let t: Vec<[u32; 3]> = (0..n).map(|k| [0, 1, 2 + k]).collect();
        let m = Mesh::from_triangles(p, &t).unwrap();
        let now = Instant::now();
        m.topology();
        println!("book {n} topology {:?}", now.elapsed());
        let now = Instant::now();
        let h = Health::of(&m);
        println!("book {n} health {:?} {}", now.elapsed(), h.boundary_loops);
        let now = Instant::now();
        ExactGeodesics::new(&m).unwrap();
        println!("book {n} exact new {:?}", now.elapsed());
        let now = Instant::now();
        m.decimated(DecimationBudget::Vertices(100), &DecimationOptions::default()).unwrap();
        println!("book {n} decimate {:?}", now.elapsed());
    }
}
#[test]
fn duplicates() {
    for n in [100_000usize, 200_000] {
        let m = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &vec![[0, 1, 2]; n]).unwrap();
        let now = Instant::now();
        let _ = Health::of(&m);
        println!("dup {n} health {:?}", now.elapsed());
        let now = Instant::now();
        let h = HeatGeodesics::factor(&m, &HeatOptions::default()).unwrap();
        println!("dup {n} heat {:?}", now.elapsed());
        let now = Instant::now();
        let d = h.distances(&[SurfacePoint::Vertex(0)]).unwrap();
        println!("dup {n} heat dist {:?} {d:?}", now.elapsed());
        let now = Instant::now();
        let d = m.decimated(DecimationBudget::Vertices(1), &DecimationOptions::default()).unwrap();
        println!("dup {n} decimate {:?} {}", now.elapsed(), d.mesh().triangles().len());
        let now = Instant::now();
        let d = LoopSubdivision::of(&m).unwrap();
        println!("dup {n} loop {:?} {}", now.elapsed(), d.mesh().triangles().len());
    }
}
#[test]
fn soup() {
    let n = 100_000u32;
    let p: Vec<DVec3> = (0..3 * n).map(|k| DVec3::new((k * 79 % 1013) as f64, (k * 104 % 997) as f64, (k % 31) as f64)).collect();
    let t: Vec<[u32; 3]> = (0..n).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let m = Mesh::from_triangles(p, &t).unwrap();
    let now = Instant::now(); let h = HeatGeodesics::factor(&m, &HeatOptions::default()); println!("soup heat {:?} {:?}", now.elapsed(), h.as_ref().err());
    let mut p = vec![DVec3::ZERO; 500_000]; p[1] = DVec3::X; p[2] = DVec3::Y;
    let m = Mesh::from_triangles(p, &[[0, 1, 2]]).unwrap();
    let now = Instant::now(); let h = HeatGeodesics::factor(&m, &HeatOptions::default()); println!("isolated heat {:?} {:?}", now.elapsed(), h.as_ref().err());
}
#[test]
fn unstable_curve() {
    let m = disc(100);
    let mut p = m.positions().to_vec();
    for (k, q) in p.iter_mut().enumerate() { if k > 0 { *q *= 1.0 + if k % 2 == 0 { 1e-6 } else { -1e-6 }; } }
    for step in [0.5, 0.65, 0.7, 0.75, 0.8, 1.0] {
        let s = Smoother::of(&m, &SmoothingOptions::default().with_step(step).with_pass_band(0.1).with_iterations(50).with_boundary(SmoothingBoundary::AlongCurve)).map(|s| s.smooth(&p).iter().map(|p| p.length()).fold(0.0, f64::max));
        println!("curve {step}: {s:?}");
    }
}
#[test]
fn doubled_full() {
    for n in [4u32, 6, 8, 10, 12, 14, 16] {
        let mut p = Vec::new();
        for i in 0..=n { for j in 0..=n { p.push(DVec3::new(i as f64, j as f64, 0.3 * ((i * 7 + j * 3) % 5) as f64)); } }
        let at = |i: u32, j: u32| i * (n + 1) + j;
        let mut f = Vec::new();
        for i in 0..n { for j in 0..n {
            let q = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            f.push(q.to_vec()); f.push(vec![q[1], q[2], q[3], q[0]]);
        }}
        let m = Mesh::from_polygons(p, &f).unwrap();
        let mut g = ExactGeodesics::new(&m).unwrap();
        let now = Instant::now();
        let d = g.distances(&[SurfacePoint::Vertex(at(n / 2, n / 2))]).unwrap();
        println!("doubled full {n}: {} {:?}", d[0], now.elapsed());
        if now.elapsed().as_secs() > 2 { return; }
    }
}
#[test]
fn doubled_flat_full() {
    for n in [4u32, 6, 8, 10, 12, 14, 16] {
        let mut p = Vec::new();
        for i in 0..=n { for j in 0..=n { p.push(DVec3::new(i as f64, j as f64, 0.0)); } }
        let at = |i: u32, j: u32| i * (n + 1) + j;
        let mut f = Vec::new();
        for i in 0..n { for j in 0..n {
            let q = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            f.push(q.to_vec()); f.push(vec![q[1], q[2], q[3], q[0]]);
        }}
        let m = Mesh::from_polygons(p, &f).unwrap();
        let mut g = ExactGeodesics::new(&m).unwrap();
        let now = Instant::now();
        let d = g.distances(&[SurfacePoint::Vertex(at(n / 2, n / 2))]).unwrap();
        println!("doubled flat full {n}: {} {:?}", d[0], now.elapsed());
        if now.elapsed().as_secs() > 2 { return; }
    }
}
#[test]
fn exact_random_orientation_brute() {
    // exact vs dense subdivision Dijkstra lower/upper bound: exact <= edge dijkstra; and triangle inequality across edges
    let mut x = 12345u64;
    let mut r = move || { x ^= x << 13; x ^= x >> 7; x ^= x << 17; (x >> 11) as f64 / (1u64 << 53) as f64 };
    for trial in 0..300 {
        let nv = 5 + (r() * 8.0) as usize;
        let nt = 3 + (r() * 12.0) as usize;
        let s = 10f64.powi((r() * 19.0) as i32 - 9);
        let p: Vec<DVec3> = (0..nv).map(|_| DVec3::new((r() * 4.0).floor(), (r() * 4.0).floor(), (r() * 3.0).floor()) * s).collect();
        let t: Vec<[u32; 3]> = (0..nt).map(|_| [0, 0, 0].map(|_| (r() * nv as f64) as u32)).collect();
        let m = Mesh::from_triangles(p.clone(), &t).unwrap();
        let _ = Health::of(&m).with_self_intersections(&m);
        let Ok(mut g) = ExactGeodesics::new(&m) else { continue };
        let d = g.distances(&[SurfacePoint::Vertex(0)]).unwrap();
        for &[a, b] in m.topology().edges() {
            let l = p[a as usize].distance(p[b as usize]);
            let (da, db) = (d[a as usize], d[b as usize]);
            if da.is_finite() || db.is_finite() { assert!((da - db).abs() <= l * (1.0 + 1e-9) + 1e-9 * s, "{trial} {da} {db} {l}"); }
            if da.is_finite() { assert!(da >= p[0].distance(p[a as usize]) * (1.0 - 1e-9), "{trial}"); }
        }
        let _ = m.decimated(DecimationBudget::Vertices(2), &DecimationOptions::default());
        let _ = LoopSubdivision::levels(&m, 2).unwrap();
        let _ = m.smoothed(&SmoothingOptions::default());
        let _ = Laplacian::cotangent(&m); let _ = Laplacian::robust(&m); let _ = mean_value_laplacian(&m);
        for tri in [HeatTriangulation::Robust, HeatTriangulation::AsAuthored] {
            match HeatGeodesics::factor(&m, &HeatOptions::default().with_triangulation(tri)) {
                Ok(h) => { let d = h.distances(&[SurfacePoint::Vertex(0)]).unwrap(); assert!(d.iter().all(|x| !x.is_nan()), "{trial} {tri:?}"); }
                Err(e) => if tri == HeatTriangulation::Robust { println!("trial {trial}: {e}") },
            }
        }
        for q in &p { let i = SurfaceIndex::new(&m).unwrap(); let c = i.closest_point(*q + DVec3::splat(0.3 * s)).unwrap(); assert!(c.distance.is_finite()); let _ = i.cast_ray(*q, DVec3::X, f64::INFINITY); let w = i.winding_number(*q); assert!(w.is_finite()); }
    }
}
