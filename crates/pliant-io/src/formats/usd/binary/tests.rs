use crate::formats::usd::layer::{Layer, Prim, PropertyValue, Value};
use crate::formats::usd::{binary, syntax};

const TEXT: &[u8] = include_bytes!("../../../../tests/usd/values.usda");
const BINARY: &[u8] = include_bytes!("../../../../tests/usd/values.usdc");

/// Whether two values are equal up to the digits of the text.
fn same(a: &Value, b: &Value) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * a.abs();
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => near(*a, *b),
        (
            Value::Numbers {
                width: w,
                values: a,
            },
            Value::Numbers { width, values: b },
        ) => {
            a.len() == b.len()
                && (w == width || a.is_empty())
                && a.iter().zip(b.iter()).all(|(a, b)| near(*a, *b))
        }
        // A list of one entry may be written without brackets.
        (Value::Text(_) | Value::Texts(_), Value::Text(_) | Value::Texts(_)) => {
            a.texts() == b.texts()
        }
        _ => a == b,
    }
}

fn assert_same_metadata(text: &[(String, Value)], binary: &[(String, Value)]) {
    for (key, value) in text {
        let found = binary.iter().find(|(known, _)| known == key);
        if !matches!(key.as_str(), "variantSets") {
            assert!(
                found.is_some_and(|(_, other)| same(value, other)),
                "{key}: {value:?} and {found:?}"
            );
        }
    }
}

fn assert_same_prims(text: &Prim, binary: &Prim) {
    assert_eq!(
        (&text.specifier, &text.kind, &text.name),
        (&binary.specifier, &binary.kind, &binary.name)
    );
    assert_same_metadata(&text.metadata, &binary.metadata);

    // OpenUSD writes the properties of a text in the order of their names.
    let by_name = |prim: &Prim| {
        let mut properties = prim.properties.clone();
        properties.sort_by(|a, b| a.name.cmp(&b.name));
        properties
    };
    let binary_properties = by_name(binary);
    let mut found = binary_properties.iter();
    for property in &by_name(text) {
        let name = &property.name;
        let other = found.next().unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!((&property.kind, name), (&other.kind, &other.name));
        assert_same_metadata(&property.metadata, &other.metadata);
        match (&property.value, &other.value) {
            (PropertyValue::Constant(a), PropertyValue::Constant(b)) => {
                assert!(same(a, b), "{name}: {a:?} and {b:?}");
            }
            (PropertyValue::Samples(a), PropertyValue::Samples(b)) => {
                let equal = |(a, b): (&(f64, Value), &(f64, Value))| a.0 == b.0 && same(&a.1, &b.1);
                assert!(a.len() == b.len() && a.iter().zip(b).all(equal), "{name}");
            }
            (a, b) => panic!("{name}: {a:?} and {b:?}"),
        }
    }
    assert!(found.next().is_none(), "no other properties");

    assert_eq!(text.children.len(), binary.children.len());
    for (a, b) in text.children.iter().zip(&binary.children) {
        assert_same_prims(a, b);
    }
    assert_eq!(text.variant_sets.len(), binary.variant_sets.len());
    for (a, b) in text.variant_sets.iter().zip(&binary.variant_sets) {
        assert_eq!((&a.name, a.variants.len()), (&b.name, b.variants.len()));
        for (a, b) in a.variants.iter().zip(&b.variants) {
            assert_eq!((&a.name, a.children.len()), (&b.name, b.children.len()));
            assert_same_metadata(&a.metadata, &b.metadata);
        }
    }
}

#[test]
fn a_binary_layer_equals_its_text() {
    let text: Layer = syntax::parse(TEXT).unwrap();
    let binary: Layer = binary::parse(BINARY).unwrap_or_else(|e| panic!("{e}"));
    assert_same_metadata(&text.metadata, &binary.metadata);
    assert_eq!(text.prims.len(), binary.prims.len());
    for (a, b) in text.prims.iter().zip(&binary.prims) {
        assert_same_prims(a, b);
    }
}

#[test]
fn a_binary_layer_that_is_cut_off_is_declined() {
    for end in 0..BINARY.len() {
        let error = binary::parse(&BINARY[..end]).expect_err("a part is no layer");
        assert!(!error.message.contains('\n'), "{error}");
    }
}

#[test]
fn any_changed_byte_is_declined_or_read() {
    // The seed of the changes is their position, so that a failure names it.
    for at in 0..BINARY.len() {
        for byte in [0, 0x7f, 0xff, BINARY[at] ^ 1, BINARY[at] ^ 0x80] {
            let mut bytes = BINARY.to_vec();
            bytes[at] = byte;
            let _ = binary::parse(&bytes);
        }
    }
}

#[test]
fn sizes_beyond_the_file_are_declined() {
    // The table of contents names the sections; each begins with its count.
    let toc = usize::try_from(u64::from_le_bytes(BINARY[16..24].try_into().unwrap())).unwrap();
    let sections = u64::from_le_bytes(BINARY[toc..toc + 8].try_into().unwrap());
    for section in 0..sections as usize {
        let entry = toc + 8 + 32 * section;
        let start = u64::from_le_bytes(BINARY[entry + 16..entry + 24].try_into().unwrap());
        for size in [u64::MAX, 1 << 40, 1 << 24] {
            let mut bytes = BINARY.to_vec();
            let at = start as usize;
            bytes[at..at + 8].copy_from_slice(&size.to_le_bytes());
            let error = binary::parse(&bytes).expect_err("the count is wrong");
            assert!(!error.message.is_empty());
        }
    }

    let mut later = BINARY.to_vec();
    later[8] = 1;
    let error = binary::parse(&later).unwrap_err();
    assert!(error.message.contains("are not supported"), "{error}");
}
