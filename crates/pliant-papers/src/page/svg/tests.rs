use super::super::{Axis, Series};
use super::*;

/// The names of all elements in order, after checking that tags are balanced, attributes quoted and
/// text escaped.
fn elements(svg: &str) -> Vec<String> {
    let (mut open, mut seen, mut rest) = (Vec::new(), Vec::new(), svg);
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];

        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(
                open.pop().as_deref(),
                Some(name),
                "a tag closes the last one open"
            );
            continue;
        }

        let name = tag
            .split(|c: char| c.is_whitespace() || c == '/')
            .next()
            .unwrap()
            .to_owned();

        check_attributes(tag[name.len()..].trim_end_matches('/'));
        seen.push(name.clone());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }

    assert!(open.is_empty(), "left open: {open:?}");
    seen
}

fn check_text(text: &str) {
    for (place, _) in text.match_indices('&') {
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;"];
        assert!(
            entities
                .iter()
                .any(|entity| text[place..].starts_with(entity)),
            "a bare & in {text}"
        );
    }
    assert!(!text.contains('>'), "a bare > in {text}");
}

fn check_attributes(mut rest: &str) {
    while let Some((name, tail)) = rest.split_once("=\"") {
        assert!(
            name.trim()
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-'),
            "an attribute is named '{name}'"
        );

        let (value, tail) = tail.split_once('"').expect("an attribute's value ends");
        check_text(value);
        rest = tail;
    }
    assert!(rest.trim().is_empty(), "left over in a tag: '{rest}'");
}

/// The numbers of an attribute of every element that begins with `start`.
fn attribute(svg: &str, start: &str, name: &str) -> Vec<f64> {
    let value = |tag: &str| {
        tag.split(&format!(" {name}=\""))
            .nth(1)
            .and_then(|rest| rest.split('"').next()?.parse().ok())
    };
    svg.lines()
        .filter(|line| line.starts_with(start))
        .map(|line| value(line).expect("a number"))
        .collect()
}

fn plain() -> Plot {
    Plot::new("", Axis::linear(""), Axis::linear(""))
}

fn busy() -> Plot {
    let nasty = "<&>\" \u{0}";
    Plot::new(
        nasty,
        Axis::categories(nasty, [nasty, "b", "c"]),
        Axis::linear(nasty),
    )
    .with_series(
        Series::bars(nasty, [1.0, -2.0, f64::NAN]).with_intervals([[0.5, 1.5], [f64::NAN, 1.0]]),
    )
    .with_series(
        Series::new(
            "l",
            Marks::LineAndPoints,
            [[0.0, 1.0], [1.0, f64::INFINITY], [2.0, 2.0]],
        )
        .with_labels([nasty]),
    )
    .with_series(Series::new("none", Marks::Line, []))
    .with_rule(1.0, nasty)
}

#[test]
fn every_plot_is_well_formed_whatever_its_words_and_numbers() {
    for svg in [
        busy().svg(),
        inline(&busy()),
        plain().svg(),
        plain().with_series(Series::bars("", [])).svg(),
    ] {
        let seen = elements(&svg);
        assert_eq!(seen[..3], ["svg", "title", "desc"]);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    let text = busy().svg();
    assert!(text.contains("&lt;&amp;&gt;&quot; \u{fffd}") && !text.contains("<&>"));
}

#[test]
fn values_that_cannot_be_shown_leave_a_gap() {
    let points = [
        [0.0, 1.0],
        [1.0, 2.0],
        [2.0, f64::NAN],
        [3.0, 2.0],
        [4.0, 1.0],
    ];

    let svg = plain()
        .with_series(Series::new("", Marks::LineAndPoints, points))
        .svg();
    let line = svg
        .lines()
        .find(|line| line.starts_with("<path class=\"line\""))
        .expect("a line");

    assert_eq!(
        (line.matches('M').count(), line.matches('L').count()),
        (2, 2),
        "{line}"
    );
    assert_eq!(svg.matches("<circle").count(), 4);
}

#[test]
fn a_plot_of_nothing_but_gaps_is_still_a_plot() {
    let nothing = [f64::NAN, f64::INFINITY, -f64::INFINITY];
    for axis in [Axis::linear("y"), Axis::logarithmic("y")] {
        for marks in [
            Marks::Line,
            Marks::Points,
            Marks::LineAndPoints,
            Marks::Bars,
        ] {
            let points = nothing.iter().flat_map(|&a| nothing.map(|b| [a, b]));
            let plot = Plot::new("", Axis::linear("x"), axis.clone())
                .with_series(Series::new("s", marks, points));
            let seen = elements(&plot.svg());
            assert!(
                !seen.iter().any(|name| name == "circle" || name == "rect"),
                "{seen:?}"
            );
        }
    }
}

#[test]
fn bars_above_zero_go_up_and_those_below_go_down() {
    let heights = [2.0, -1.0, 0.0, -2.0];
    let svg = Plot::new(
        "",
        Axis::categories("", ["a", "b", "c", "d"]),
        Axis::linear(""),
    )
    .with_series(Series::bars("", heights))
    .svg();

    let tops = attribute(&svg, "<rect class=\"bar\"", "y");
    let sizes = attribute(&svg, "<rect class=\"bar\"", "height");
    let zero = tops[0] + sizes[0];

    // One decimal each in a top and a height.
    let close = |a: f64, b: f64| (a - b).abs() < 0.21;
    assert!(
        close(tops[1], zero) && close(tops[2], zero) && close(tops[3], zero),
        "{tops:?} from {zero}"
    );

    assert!(
        close(sizes[0], sizes[3]) && close(sizes[0], 2.0 * sizes[1]) && close(sizes[2], 0.0),
        "{sizes:?}"
    );
}

#[test]
fn bars_of_several_series_stand_side_by_side() {
    let axis = Axis::categories("", ["a", "b"]);
    let svg = Plot::new("", axis, Axis::linear(""))
        .with_series(Series::bars("1", [1.0, 1.0]))
        .with_series(Series::bars("2", [1.0, 1.0]))
        .svg();

    let lefts = attribute(&svg, "<rect class=\"bar\"", "x");
    let widths = attribute(&svg, "<rect class=\"bar\"", "width");

    // In the file: both bars of the first series, then both of the second.
    for (first, second, next) in [(0, 2, 1), (1, 3, 1)] {
        assert!(
            (lefts[first] + widths[first] - lefts[second]).abs() < 0.21,
            "{lefts:?} {widths:?}"
        );
        assert!(
            first == 1 || lefts[second] + widths[second] < lefts[next],
            "groups stand apart"
        );
    }
}

#[test]
fn a_logarithmic_axis_has_equal_ratios_at_equal_distances() {
    let points = [[1.0, 1.0], [10.0, 10.0], [100.0, 100.0], [1000.0, 1000.0]];
    let plot = Plot::new("", Axis::logarithmic(""), Axis::logarithmic(""))
        .with_series(Series::new("", Marks::Points, points));
    let svg = plot.svg();

    for name in ["cx", "cy"] {
        let places = attribute(&svg, "<circle", name);
        let steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            steps
                .iter()
                .all(|step| (step - steps[0]).abs() < 0.21 && step.abs() > 30.0),
            "{steps:?}"
        );
    }
}

#[test]
fn everything_drawn_lies_in_the_picture() {
    let names: Vec<String> = (0..50).map(|k| format!("mouthUpperUpLeft{k}")).collect();
    let heights = (0..50).map(|k| f64::from(k) - 20.0);
    let crowded = Plot::new("t", Axis::categories("slider", names), Axis::linear("w"))
        .with_series(Series::bars("m", heights));

    for plot in [busy(), crowded.clone(), crowded.with_size([1, 1])] {
        let svg = plot.svg();
        let [width, height] = plot.size;
        for (start, name, limit) in [
            ("<text", "x", width),
            ("<text", "y", height),
            ("<rect", "x", width),
            ("<rect", "y", height),
        ] {
            assert!(
                attribute(&svg, start, name)
                    .iter()
                    .all(|v| (0.0..=limit).contains(v)),
                "{start} {name}"
            );
        }
    }
}

#[test]
fn the_same_plot_is_the_same_text() {
    assert_eq!(busy().svg(), busy().svg());
}
