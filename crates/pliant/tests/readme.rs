//! The README shows what the program draws.

use std::path::Path;

#[test]
fn the_picture_in_the_readme_is_the_one_the_demo_draws() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pliant.png");
    let stored = std::fs::read(stored).expect("the README's picture");
    let drawn = pliant::demo::family_picture().expect("a picture of the built-in models");
    assert!(
        stored == drawn,
        "the models or the renderer changed: copy pliant-demo/pliant.png to docs/ after looking at it"
    );
}
