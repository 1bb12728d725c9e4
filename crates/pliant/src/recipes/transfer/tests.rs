//! Claims about the text of transfer recipes.

use super::*;

const SHORT: &str =
    "target = \"t.obj\"\n[[source]]\nname = \"a\"\nclip = \"c.glb\"\n[[layer]]\nsource = \"a\"\n";

fn line_and_message(text: &str) -> (usize, String) {
    match TransferRecipe::parse(text) {
        Err(RecipeError::Syntax { line, message }) => (line, message),
        other => panic!("{other:?}"),
    }
}

/// The template with its commented keys and tables as part of the recipe.
fn uncommented_template() -> String {
    let mut text = String::new();
    for line in TransferRecipe::TEMPLATE.lines() {
        let content = line.strip_prefix("# ").filter(|content| is_key(content));
        text.push_str(content.unwrap_or(line));
        text.push('\n');
    }
    text
}

/// Whether a line is a key with a value or the head of a table.
fn is_key(line: &str) -> bool {
    let key = line.split_once(" = ").map(|(key, _)| key);
    line.starts_with("[[") || key.is_some_and(|key| !key.contains(' '))
}

#[test]
fn a_layer_without_keys_is_the_whole_clip_on_the_whole_target() {
    let recipe = TransferRecipe::parse(SHORT).unwrap();
    assert_eq!(recipe.layers, [RecipeLayer::whole("a")]);
    assert_eq!(recipe.sources[0].markers, None);
}

#[test]
fn the_template_is_a_recipe_and_names_every_key() {
    let recipe = TransferRecipe::parse(TransferRecipe::TEMPLATE).unwrap();
    assert_eq!((recipe.sources.len(), recipe.layers.len()), (1, 1));

    let top = [
        "target", "output", "root", "feet", "up", "check", "untangle", "form",
    ];
    let of_source = ["name", "clip", "markers", "method", "turn", "align_poses"];
    let of_layer = [
        "source",
        "region",
        "strokes",
        "width",
        "refine",
        "threshold",
        "band",
        "mode",
        "frames",
        "at",
        "speed",
        "ease",
    ];

    for key in top
        .iter()
        .chain(&of_source)
        .chain(&of_layer)
        .chain(&["axis", "degrees"])
    {
        assert!(
            TransferRecipe::TEMPLATE.lines().any(|line| line
                .trim_start_matches("# ")
                .starts_with(&format!("{key} ="))),
            "{key}"
        );
    }
}

#[test]
fn the_commented_lines_of_the_template_are_a_recipe_as_well() {
    let recipe = TransferRecipe::parse(&uncommented_template()).unwrap();

    assert_eq!(
        (
            recipe.modifications.len(),
            recipe.output.is_some(),
            recipe.layers[0].frames.is_some()
        ),
        (1, true, true)
    );

    assert!(recipe.layers[0].strokes != Strokes::default() && recipe.sources[0].markers.is_some());
}

#[test]
fn regions_are_a_word_a_file_or_a_list() {
    let region = |text: &str| {
        TransferRecipe::parse(&format!("{SHORT}region = {text}\n"))
            .map(|r| r.layers[0].region.clone().unwrap())
    };

    assert_eq!(region("\"all\"").unwrap(), Region::All);
    assert_eq!(
        region("\"legs.npy\"").unwrap(),
        Region::File("legs.npy".into())
    );
    assert_eq!(region("[3, 1]").unwrap(), Region::Faces(vec![3, 1]));
    assert_eq!(region("\"#legs\"").unwrap(), Region::Group("legs".into()));

    assert_eq!(
        region("[\"#legs\", \"a.npy\"]").unwrap(),
        Region::Union(vec![
            Region::Group("legs".into()),
            Region::File("a.npy".into())
        ])
    );

    assert!(
        region("true")
            .unwrap_err()
            .to_string()
            .contains("a list of faces")
    );
}

#[test]
fn a_recipe_written_and_read_again_is_the_same() {
    let full = TransferRecipe::parse(&uncommented_template()).unwrap();

    let mut unusual = TransferRecipe::plain("a \"b\"\t\u{7f}.glb#walk", "t\\u.obj", None);
    unusual.form = ReconstructionWeighting::Sumner2004;
    unusual.layers[0].speed = 1.0 / 3.0;
    unusual.layers[0].band = BorderBand::Share(0.02);
    unusual.layers[0].threshold = StiffnessThreshold::Below(0.1);
    unusual.layers[0].strokes = Strokes::Lines(vec![vec![0, 1], vec![2, 3, 4]]);

    unusual.layers[0].region = Some(Region::Union(vec![
        Region::Group("legs".into()),
        Region::File("a.npy".into()),
    ]));

    for recipe in [full, unusual, TransferRecipe::parse(SHORT).unwrap()] {
        assert_eq!(
            TransferRecipe::parse(&recipe.to_toml().unwrap()).unwrap(),
            recipe
        );
    }
}

#[test]
fn a_union_with_a_list_of_faces_cannot_be_written() {
    let mut recipe = TransferRecipe::parse(SHORT).unwrap();
    recipe.layers[0].region = Some(Region::Union(vec![Region::Faces(vec![1])]));
    assert!(
        recipe
            .to_toml()
            .unwrap_err()
            .to_string()
            .contains("in one list")
    );
}

#[test]
fn errors_name_the_line_and_the_key() {
    let (line, message) = line_and_message(&format!("{SHORT}sped = 2.0\n"));
    assert!(
        line == 7 && message.contains("sped") && message.contains("speed"),
        "{line}: {message}"
    );

    let (line, message) = line_and_message(&format!("{SHORT}mode = \"mix\"\n"));
    assert!(
        line == 7 && message.contains("mix") && message.contains("compound"),
        "{line}: {message}"
    );
    assert_eq!(line_and_message(&format!("{SHORT}frames = [-1, 4]\n")).0, 7);

    let (line, message) = line_and_message(&format!("{SHORT}band = \"wide\"\n"));
    assert!(
        line == 7 && message.contains("wide") && message.contains("auto"),
        "{line}: {message}"
    );

    let (line, message) = line_and_message(&format!("{SHORT}strokes = [1, 2]\n"));
    assert!(
        line == 7 && message.contains("[[0, 1], [2, 3, 4]]"),
        "{line}: {message}"
    );

    let (line, message) = line_and_message(&format!("root = \"free\"\n{SHORT}"));
    assert!(line == 1 && message.contains("carry"), "{line}: {message}");
    assert!(
        line_and_message(&format!("{SHORT}[[modify]]\naxis = [0, 1, 0]\n"))
            .1
            .contains("degrees")
    );

    assert!(
        line_and_message("target = \"t.obj\"\n")
            .1
            .contains("source")
    );

    assert_eq!(
        line_and_message("target = \"t.obj\"\nnot toml at all\n").0,
        2
    );
}
