use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
use pliant_rig::{Clip, InBetween, Interpolation, Rig, Target, WeightTrack};

use super::{read, write};
use crate::{Animation, Asset, FilePosition, Motion, Object, PlacementTrack, Shape, UpAxis};

fn sheet() -> Mesh {
    let positions = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (2.0, 0.5)];
    let builder = MeshBuilder {
        positions: positions.map(|(x, y)| DVec3::new(x, y, -0.25)).to_vec(),
        face_sizes: vec![4, 3],
        corners: vec![0, 1, 2, 3, 1, 4, 2],
        uv_layers: ["", "light map"]
            .map(|name| CornerLayer {
                name: name.into(),
                values: [0.0, 0.25, 0.5, 1.0].map(|u| DVec2::new(u, 1e-7)).to_vec(),
                corners: vec![Some(0), Some(1), Some(2), Some(3), Some(1), None, Some(3)],
            })
            .to_vec(),
        normals: Some(CornerLayer {
            name: String::new(),
            values: vec![DVec3::Z, DVec3::Y],
            corners: [0, 0, 0, 0, 1, 1, 1].map(Some).to_vec(),
        }),
        colors: vec![VertexLayer {
            name: String::new(),
            values: (0..5)
                .map(|k| DVec4::new(0.5, 0.25, 0.0, f64::from(k) / 4.0))
                .collect(),
        }],
        groups: FaceLabels::from_names(["lid \"left\"", "lid \"left\""]),
        materials: FaceLabels::from_names(["skin", ""]),
        ..MeshBuilder::default()
    };

    builder.build().unwrap()
}

fn targets() -> Vec<Target> {
    let mut lid = Target::from_dense(
        "lid.L",
        [Vec3::ZERO, Vec3::X, Vec3::ZERO, Vec3::Y * 1e-7, Vec3::ZERO],
    );

    lid.in_betweens = vec![
        InBetween {
            name: "half way".into(),
            weight: 0.5,
            vertices: vec![0, 1],
            deltas: vec![Vec3::Z, Vec3::ONE * 0.1],
        },
        InBetween {
            name: "over".into(),
            weight: 1.5,
            vertices: vec![4],
            deltas: vec![Vec3::X * 3.0],
        },
    ];

    vec![
        lid,
        Target::from_dense("lid L", [Vec3::ONE; 5]),
        Target::from_dense("none", []),
    ]
}

/// A rig that its weights and its place move, and a mesh that moves point by point.
fn asset() -> Asset {
    let rig = Object {
        path: "/face/head left".into(),
        ..Object::new(Rig::new(sheet().named("head left"), targets()).unwrap())
    };

    let cloth = Object {
        path: "/face/cloth".into(),
        ..Object::new(Rig::without_targets(
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]])
                .unwrap()
                .named("cloth"),
        ))
    };

    let track = WeightTrack::new(
        vec![0.5, 0.75, 1.25],
        vec![
            vec![0.0, 0.0, 0.0],
            vec![1.5, -0.25, 0.0],
            vec![0.25, 2.0, 1.0],
        ],
        Interpolation::Linear,
    );

    let places = (0..4)
        .map(|k| DAffine3::from_rotation_z(f64::from(k) * 0.25))
        .collect();
    let mut clip = Animation::new("blink", 4);

    (clip.frames_per_second, clip.start_secs) = (4.0, 0.5);
    clip.motions = vec![
        Motion {
            placement: Some(PlacementTrack {
                times_secs: (0..4).map(|k| 0.5 + f64::from(k) / 4.0).collect(),
                moved_from_rest: places,
            }),
            ..Motion::new(0, Shape::Weights(track.unwrap()))
        },
        Motion::new(
            1,
            Shape::Points(
                (0..4)
                    .map(|k| vec![DVec3::splat(f64::from(k)); 3])
                    .collect(),
            ),
        ),
    ];

    Asset {
        name: "face".into(),
        objects: vec![rig, cloth],
        clips: vec![clip],
        ..Asset::default()
    }
}

#[test]
fn an_asset_survives_a_round_trip() {
    let before = asset();
    let written = write(&before).unwrap();
    assert!(written.left_out.is_empty(), "{:?}", written.left_out);

    let after = read(&written.bytes).unwrap();
    assert!(after.warnings.is_empty(), "{:?}", after.warnings);
    after.check().unwrap();

    let text = String::from_utf8(written.bytes).unwrap();
    for (a, b) in before.objects.iter().zip(&after.objects) {
        assert_eq!(a.path, b.path);
        let a = a.rig.neutral().to_builder();
        let b = b.rig.neutral().to_builder();
        assert_eq!(
            (&a.name, &a.positions, &a.face_sizes, &a.corners),
            (&b.name, &b.positions, &b.face_sizes, &b.corners)
        );

        assert_eq!(
            (&a.normals, &a.colors, &a.groups, &a.materials),
            (&b.normals, &b.colors, &b.groups, &b.materials),
            "{text}"
        );

        let single = |layer: &CornerLayer<DVec2>| {
            (
                layer
                    .values
                    .iter()
                    .map(|uv| uv.as_vec2())
                    .collect::<Vec<_>>(),
                layer.corners.clone(),
            )
        };

        assert_eq!(
            a.uv_layers.iter().map(single).collect::<Vec<_>>(),
            b.uv_layers.iter().map(single).collect::<Vec<_>>()
        );
    }

    assert_eq!(
        before.objects[0].rig.targets(),
        after.objects[0].rig.targets()
    );

    let (a, b) = (&before.clips[0], &after.clips[0]);
    assert_eq!(
        (a.frame_count, a.frames_per_second, a.start_secs),
        (b.frame_count, b.frames_per_second, b.start_secs)
    );

    for k in 0..4 {
        let far = before
            .frame_positions(k)
            .unwrap()
            .iter()
            .zip(after.frame_positions(k).unwrap())
            .map(|(a, b)| (*a - b).length())
            .fold(0.0, f64::max);
        assert!(far < 1e-12, "frame {k}: {far}");
    }

    let Shape::Weights(track) = &b.motions[0].shape else {
        panic!("weights stay weights")
    };

    assert_eq!(track.times_secs(), [0.5, 0.75, 1.25]);
}

#[test]
fn up_axis_unit_and_clip_name_survive_a_round_trip() {
    for (up_axis, meters_per_unit) in [
        (UpAxis::Z, Some(0.01)),
        (UpAxis::X, Some(0.3048)),
        (UpAxis::Y, None),
    ] {
        let before = Asset {
            up_axis,
            meters_per_unit,
            ..asset()
        };
        let written = write(&before).unwrap();

        assert!(written.left_out.is_empty(), "{:?}", written.left_out);
        let after = read(&written.bytes).unwrap();
        // USD reads a missing unit as centimetres, so that one is always declared.
        assert_eq!(
            (after.up_axis, after.meters_per_unit),
            (up_axis, meters_per_unit.or(Some(1.0)))
        );

        assert_eq!(after.clips[0].name, "blink");
        assert_eq!(
            after.mesh().unwrap().positions(),
            before.mesh().unwrap().positions()
        );
    }

    let unknown = read(b"#usda 1.0\n( upAxis = \"W\" metersPerUnit = -1 )\n").unwrap();
    assert_eq!(
        (unknown.up_axis, unknown.meters_per_unit),
        (UpAxis::Y, Some(0.01))
    );
    assert!(unknown.warnings[1].contains("-1 metres is no length"));
    assert!(
        unknown.warnings[0].contains("the up axis 'W' is unknown"),
        "{:?}",
        unknown.warnings
    );
}

#[test]
fn names_that_are_invalid_in_usd_survive_a_round_trip_and_stay_distinct() {
    let rig = || Rig::new(sheet(), targets()).unwrap();
    let paths = [
        "/two words/a",
        "/two words/a_Skeleton",
        "/two words/Materials",
        "/two words/a b",
        "/two words/a_b",
        "/two words/ä/x",
        "/two words/a/7",
    ];

    let objects = paths
        .map(|path| Object {
            path: path.into(),
            ..Object::new(rig())
        })
        .to_vec();

    let copy = read(
        &write(&Asset {
            objects,
            ..Asset::default()
        })
        .unwrap()
        .bytes,
    )
    .unwrap();

    assert!(copy.warnings.is_empty(), "{:?}", copy.warnings);
    let found: std::collections::BTreeSet<&str> =
        copy.objects.iter().map(|o| o.path.as_str()).collect();

    assert_eq!(found, paths.into());
    assert!(
        copy.objects
            .iter()
            .all(|object| object.rig.targets() == targets())
    );
}

#[test]
fn objects_without_paths_get_one_root() {
    let mesh = |name: &str| Object::new(Rig::without_targets(sheet().named(name)));
    let asset = Asset {
        name: "two faces".into(),
        objects: vec![mesh("1st"), mesh("")],
        ..Asset::default()
    };

    let text = String::from_utf8(write(&asset).unwrap().bytes).unwrap();
    assert!(
        text.contains("defaultPrim = \"two_faces\"")
            && text.contains("displayName = \"two faces\""),
        "{text}"
    );

    let copy = read(text.as_bytes()).unwrap();
    assert_eq!(
        copy.objects.iter().map(Object::name).collect::<Vec<_>>(),
        ["1st", "Mesh"]
    );

    assert!(
        read(&write(&Asset::default()).unwrap().bytes)
            .unwrap()
            .objects
            .is_empty()
    );
}

#[test]
fn losses_are_reported() {
    let mut asset = asset();
    let tangents = vec![vec![0.0; 3]; 2];
    let cubic = Interpolation::Cubic {
        arriving: tangents.clone(),
        leaving: tangents,
    };

    let curve = WeightTrack::new(vec![0.5, 1.25], vec![vec![0.0; 3], vec![1.0; 3]], cubic).unwrap();
    asset.clips[0].motions[0].shape = Shape::Weights(curve);
    asset.clips[0].motions[1] = Motion::new(0, Shape::Rest);

    let left_out = write(&asset).unwrap().left_out;
    assert!(
        left_out
            .iter()
            .any(|what| what.contains("1 weight curve(s) between frames")),
        "{left_out:?}"
    );

    let clip = Clip::new("wave", sheet(), vec![sheet().positions().to_vec(); 2]).unwrap();
    let left_out = write(&Asset::from_clip(&clip)).unwrap().left_out;
    assert!(
        left_out
            .iter()
            .any(|what| what.contains("normals of 1 mesh(es)")),
        "{left_out:?}"
    );

    let far = Mesh::from_polygons(vec![DVec3::splat(1e39)], &[]).unwrap();
    assert!(
        write(&Asset::from_mesh(far))
            .unwrap_err()
            .to_string()
            .contains("vertex 0")
    );
}

const TRIANGLE: &str = "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\npoint3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n";

#[test]
fn transforms_of_ancestors_apply_to_a_mesh() {
    let text = format!(
        "#usda 1.0\n( timeCodesPerSecond = 10 )\n\
         def Xform \"a\" {{ double3 xformOp:translate.timeSamples = {{ 0: (0, 0, 0), 2: (0, 0, 4) }}\n uniform token[] xformOpOrder = [\"xformOp:translate\"]\n\
           def Mesh \"m\" {{ {TRIANGLE} float3 xformOp:scale = (2, 2, 2)\n float xformOp:rotateZ = 90\n\
             uniform token[] xformOpOrder = [\"xformOp:rotateZ\", \"xformOp:scale\"] }} }}\n"
    );

    let asset = read(text.as_bytes()).unwrap();
    let near = |found: &[DVec3], wanted: [DVec3; 3]| {
        found
            .iter()
            .zip(wanted)
            .all(|(a, b)| (*a - b).length() < 1e-14)
    };

    assert!(near(
        asset.mesh().unwrap().positions(),
        [DVec3::ZERO, DVec3::Y * 2.0, DVec3::X * -2.0]
    ));

    assert_eq!(
        (asset.clips[0].frame_count, asset.clips[0].frames_per_second),
        (3, 10.0)
    );

    let lift = DVec3::Z * 2.0;
    assert!(near(
        &asset.frame_positions(1).unwrap(),
        [lift, lift + DVec3::Y * 2.0, lift - DVec3::X * 2.0]
    ));
}

#[test]
fn samples_are_interpolated_and_constant_beyond_their_ends() {
    let text = format!(
        "#usda 1.0\n( startTimeCode = 0; endTimeCode = 4 )\ndef Mesh \"m\" {{ {TRIANGLE} point3f[] points.timeSamples = {{\n\
         3: [(3, 0, 0), (0, 0, 0), (0, 0, 0)],\n 1: [(1, 0, 0), (0, 0, 0), (0, 0, 0)], 2.5: None }} }}\n"
    );
    let asset = read(text.as_bytes()).unwrap();
    let xs: Vec<f64> = (0..5)
        .map(|k| asset.frame_positions(k).unwrap()[0].x)
        .collect();
    assert_eq!(xs, [1.0, 1.0, 2.0, 3.0, 3.0]);
}

#[test]
fn rare_syntax_is_read() {
    let text = format!(
        "#usda 1.0\n(\n \"a comment\" doc = \"\"\"many\nlines \"quoted\" \"\"\"\n customLayerData = {{ string a = \"}}\" dictionary d = {{ int x = 1 }} }}\n subLayers = [ @./other.usda@ (offset = 1) ]\n)\n\
         class \"_hidden\" {{ def Mesh \"x\" {{}} }}\nover \"o\" (prepend references = @a.usda@</Prim> (offset = 10); active = false) {{ }}\n\
         def \"untyped\" ( variants = {{ string v = \"one\" }} prepend variantSets = \"v\" ) {{\n reorder nameChildren = [\"b\"]\n variantSet \"v\" = {{ \"one\" {{ def Mesh \"y\" {{ {TRIANGLE} }} }} }}\n\
          custom uniform bool flag = true\n token[] names = []\n asset map = @@@C:/x@y@@@\n float x.connect = </a.b>\n matrix4d m = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )\n\
          prepend rel r = [</a>, <b>]\n def Mesh \"m\" {{ # a comment\n {TRIANGLE} }}\n}}\n"
    );

    let asset = read(text.as_bytes()).unwrap_or_else(|e| panic!("{e} {:?}", e.position));
    assert_eq!(
        asset
            .objects
            .iter()
            .map(|o| o.path.as_str())
            .collect::<Vec<_>>(),
        ["/untyped/y", "/untyped/m"]
    );

    assert!(
        asset.warnings.iter().any(|p| p.contains("other.usda"))
            && asset.warnings.iter().any(|p| p.contains("a.usda")),
        "{:?}",
        asset.warnings
    );
}

#[test]
fn errors_are_reported_with_their_position() {
    let error = |text: &str| read(text.as_bytes()).unwrap_err();
    let body = |body: &str| error(&format!("#usda 1.0\ndef Mesh \"m\"\n{{\n{body}\n}}\n"));
    assert!(
        error("PXR-USDC....")
            .message
            .contains("binary layers of version")
    );
    assert!(error("mesh").message.contains("#usda"));

    let cut = error("#usda 1.0\ndef Mesh \"m\"\n{\n point3f[] points = [(1, 2, 3), (4, 5");
    assert_eq!(cut.position, FilePosition::Line(4));
    assert!(
        cut.message
            .contains("ends where a number of a tuple is needed"),
        "{cut}"
    );

    assert!(
        error("#usda 1.0\ndef Mesh \"m\"\n{\n")
            .message
            .contains("ends where the body of prim 'm' is needed")
    );

    assert!(
        body("point3f[] points = [(1, 2, 3), (4, 5)]")
            .message
            .contains("entries of 3 and of 2 numbers")
    );

    assert!(
        body("point3f[] points = [(1, two, 3)]")
            .message
            .contains("expected a number of a tuple, found 'two,'")
    );

    assert!(
        body("int[] x = [1, \"a\"]")
            .message
            .contains("both numbers and texts")
    );

    assert!(
        body("string x = \"abc\n\"")
            .message
            .contains("does not end")
    );

    assert!(
        body("point3f[] points = [1, 2, 3]")
            .message
            .contains("'/m' has points that are not lists of three")
    );
    let empty = read(b"#usda 1.0\ndef Mesh \"m\" {}\n").unwrap();
    assert!(empty.warnings[0].contains("'/m' is a mesh without points"));

    let far = TRIANGLE.replace("[0, 1, 2]", "[0, 1, 7]");
    assert!(body(&far).message.contains("vertex 7"));
    assert!(
        body(&TRIANGLE.replace("[0, 1, 2]", "[0, 1, -1]"))
            .message
            .contains("faceVertexIndices that are not whole numbers")
    );

    assert!(
        body(&format!(
            "{TRIANGLE}uniform token[] skel:blendShapes = [\"a\"]"
        ))
        .message
        .contains("names 1 blend shapes but has 0")
    );

    let shape = |shape: &str| {
        body(&format!("{TRIANGLE}token[] skel:blendShapes = [\"a\"]\nrel skel:blendShapeTargets = <a>\ndef BlendShape \"a\" {{ {shape} }}"))
            .message
    };

    assert!(shape("vector3f[] offsets = [(1, 1, 1)]").contains("for 1 vertices instead of 3"));
    assert!(
        shape("vector3f[] offsets = [(1, 1, 1)] int[] pointIndices = [9]")
            .contains("move vertex 9, but the mesh has 3")
    );
    assert!(shape("vector3f[] inbetweens:b = []").contains("'b' without a weight"));
}

#[test]
fn the_order_of_objects_and_vertices_survives_the_prim_tree() {
    let one = |path: &str, x: f64| {
        let mesh = Mesh::from_triangles(
            [0.0, 1.0, 2.0].map(|y| DVec3::new(x, y, y * y)).to_vec(),
            &[[0, 1, 2]],
        )
        .unwrap();
        Object {
            path: path.into(),
            ..Object::new(Rig::without_targets(mesh))
        }
    };

    // The two of one parent become neighbours in the file.
    let mut asset = Asset {
        objects: vec![
            one("/r/a/left", 0.0),
            one("/r/b/middle", 1.0),
            one("/r/a/right", 2.0),
        ],
        ..Asset::default()
    };

    let copy = read(&write(&asset).unwrap().bytes).unwrap();
    assert_eq!(
        copy.objects.iter().map(Object::name).collect::<Vec<_>>(),
        ["left", "middle", "right"]
    );

    assert_eq!(
        copy.mesh().unwrap().positions(),
        asset.mesh().unwrap().positions()
    );

    let orders = [vec![0, 3, 6], vec![1, 4, 7], vec![2, 5, 8]];
    for (object, order) in asset.objects.iter_mut().zip(orders) {
        object.file_index = Some(order);
    }

    let copy = read(&write(&asset).unwrap().bytes).unwrap();
    assert_eq!(
        copy.mesh().unwrap().positions(),
        asset.mesh().unwrap().positions()
    );
}

#[test]
fn small_files_cannot_ask_for_large_memory() {
    let deep = format!("#usda 1.0\n{}", "def \"a\" {".repeat(10_000));
    assert!(
        read(deep.as_bytes())
            .unwrap_err()
            .message
            .contains("nested more than 64 deep")
    );

    let brackets = format!(
        "#usda 1.0\ndef \"a\" {{ float x = {} }}",
        "(".repeat(100_000)
    );

    assert!(read(brackets.as_bytes()).is_err());
    let samples = "point3f[] points.timeSamples = { 0: [(0,0,0),(1,0,0),(0,1,0)] }";
    let held = |end: &str| {
        format!(
            "#usda 1.0\n(startTimeCode = 0 endTimeCode = {end})\ndef Mesh \"m\" {{ {TRIANGLE} {samples} }}"
        )
    };

    assert!(
        read(held("900000").as_bytes())
            .unwrap_err()
            .message
            .contains("more than a file of this size")
    );

    assert!(
        read(held("1e300").as_bytes())
            .unwrap_err()
            .message
            .contains("at most 1000000")
    );

    assert_eq!(
        read(held("1000").as_bytes()).unwrap().clips[0].frame_count,
        1001
    );

    let many = (0..3000).map(|k| format!("\"t{k}\",")).collect::<String>();
    let offsets = "(1,1,1),".repeat(3000);
    let points = "(0,0,0),".repeat(3000);
    let shared = format!(
        "#usda 1.0\ndef Mesh \"m\" {{ point3f[] points = [{points}] token[] skel:blendShapes = [{many}]\n rel skel:blendShapeTargets = [{}]\n def BlendShape \"a\" {{ vector3f[] offsets = [{offsets}] }} }}",
        "<a>,".repeat(3000)
    );

    assert!(
        read(shared.as_bytes())
            .unwrap_err()
            .message
            .contains("more than a file of this size")
    );

    let long = format!("#usda 1.0\ndef \"{}\" {{}}", "a".repeat(2000));
    assert!(
        read(long.as_bytes())
            .unwrap_err()
            .message
            .contains("2001 bytes")
    );
}

#[test]
fn faces_of_fewer_than_three_corners_are_left_out_with_their_values_and_reported() {
    let text = b"#usda 1.0
def Mesh \"sheet\"
{
    int[] faceVertexCounts = [3, 2, 0, 3]
    int[] faceVertexIndices = [0, 1, 2, 0, 1, 0, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    texCoord2f[] primvars:st = [(0, 0), (0.125, 0), (0.25, 0), (0.5, 0), (0.5, 0), (0.625, 0), (0.75, 0), (1, 0)] (
        interpolation = \"faceVarying\"
    )
}
";
    let asset = read(text).unwrap();
    let mesh = asset.objects[0].rig.neutral();
    let faces: Vec<&[u32]> = mesh.faces().collect();
    assert_eq!(faces, [&[0, 1, 2][..], &[0, 2, 3]]);
    let layer = &mesh.uv_layers()[0];
    let values = layer
        .corners
        .iter()
        .map(|k| layer.values[k.unwrap() as usize].x);
    let values: Vec<f64> = values.collect();
    assert_eq!(values, [0.0, 0.125, 0.25, 0.625, 0.75, 1.0]);
    assert!(
        asset.warnings.iter().any(|w| w.contains("2 face(s)")),
        "{:?}",
        asset.warnings
    );
}
