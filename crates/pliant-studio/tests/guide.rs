//! The pictures of the guide exist.

use std::path::Path;

#[test]
fn every_picture_of_the_guide_is_one_that_a_test_takes() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = std::fs::read_to_string(docs.join("guide.md")).expect("the guide");
    let links: Vec<&str> = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect();

    assert!(
        links.iter().filter(|link| link.ends_with(".png")).count() >= 6,
        "every room has a picture"
    );

    for link in links {
        assert!(docs.join(link).is_file(), "{link} is missing");
    }
}
