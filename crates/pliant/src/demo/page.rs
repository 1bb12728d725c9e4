//! The page: sections of words, figures, pictures and files, as one HTML file that needs no network.

use std::fmt::Write;

use pliant_view::{Image, ViewError, to_apng};

/// All sections in order.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The picture at the top, as a PNG.
    pub(super) family: Vec<u8>,
    pub(super) sections: Vec<Section>,
}

/// A part of the page.
#[derive(Debug)]
pub(super) struct Section {
    title: String,
    text: String,
    figures: Vec<(String, String)>,
    items: Vec<Item>,
}

/// A picture to show or a file to take along.
#[derive(Debug)]
struct Item {
    file: String,
    caption: String,
    bytes: Vec<u8>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Across the page.
    Wide,
    /// Beside others.
    Small,
    /// A link.
    File,
}

impl Section {
    pub(super) fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), figures: Vec::new(), items: Vec::new() }
    }

    /// A figure with its name.
    pub(super) fn figure(&mut self, name: &str, value: impl Into<String>) {
        self.figures.push((name.to_owned(), value.into()));
    }

    /// A picture across the page.
    pub(super) fn wide(&mut self, file: &str, caption: &str, image: &Image) -> Result<(), ViewError> {
        self.push(file, caption, image.to_png()?, Kind::Wide);
        Ok(())
    }

    /// A picture beside others.
    pub(super) fn small(&mut self, file: &str, caption: &str, image: &Image) -> Result<(), ViewError> {
        self.push(file, caption, image.to_png()?, Kind::Small);
        Ok(())
    }

    /// A moving picture beside others.
    pub(super) fn moving(&mut self, file: &str, caption: &str, frames: &[Image], frame_millis: u16) -> Result<(), ViewError> {
        self.push(file, caption, to_apng(frames, frame_millis)?, Kind::Small);
        Ok(())
    }

    /// A file to take along.
    pub(super) fn file(&mut self, file: &str, caption: &str, bytes: Vec<u8>) {
        self.push(file, caption, bytes, Kind::File);
    }

    fn push(&mut self, file: &str, caption: &str, bytes: Vec<u8>, kind: Kind) {
        self.items.push(Item { file: file.to_owned(), caption: caption.to_owned(), bytes, kind });
    }
}

impl Page {
    /// Every file beside the page.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let items = self.sections.iter().flat_map(|section| &section.items);
        items.map(|item| (item.file.as_str(), item.bytes.as_slice())).chain([(FAMILY, self.family.as_slice())])
    }

    /// Every figure with its section.
    pub(super) fn figures<'a>(&'a self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        let named = |section: &'a Section| section.figures.iter().map(move |(name, value)| (&*section.title, &**name, &**value));
        self.sections.iter().flat_map(named)
    }

    pub(super) fn html(&self) -> String {
        let mut html = String::from(HEAD);
        let _ = write!(html, "<figure><img src=\"{FAMILY}\" alt=\"Four built-in models\"></figure>\n<nav>");
        for (k, section) in self.sections.iter().enumerate() {
            let _ = write!(html, "<a href=\"#s{k}\">{}</a>", escaped(&section.title));
        }
        html.push_str("</nav>\n");
        for (k, section) in self.sections.iter().enumerate() {
            section.write_html(k, &mut html);
        }
        html.push_str("<footer>Made by <code>pliant demo</code>. Every picture comes from a software renderer that gives the same bytes on every machine; every time was measured on this one.</footer>\n</main>\n</body>\n</html>\n");
        html
    }
}

impl Section {
    fn write_html(&self, number: usize, html: &mut String) {
        let _ = writeln!(html, "<section id=\"s{number}\">\n<h2>{}</h2>\n<p>{}</p>", escaped(&self.title), escaped(&self.text));
        if !self.figures.is_empty() {
            html.push_str("<dl>");
            for (name, value) in &self.figures {
                let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
            }
            html.push_str("</dl>\n");
        }
        for (kind, class) in [(Kind::Wide, "wide"), (Kind::Small, "row")] {
            self.write_pictures(kind, class, html);
        }
        let files: Vec<&Item> = self.items.iter().filter(|item| item.kind == Kind::File).collect();
        if !files.is_empty() {
            html.push_str("<p class=\"files\">");
            for item in files {
                let _ = write!(html, "<a href=\"{0}\" download>{0}</a> <span>{1}</span> ", escaped(&item.file), escaped(&item.caption));
            }
            html.push_str("</p>\n");
        }
        html.push_str("</section>\n");
    }

    fn write_pictures(&self, kind: Kind, class: &str, html: &mut String) {
        let pictures: Vec<&Item> = self.items.iter().filter(|item| item.kind == kind).collect();
        if pictures.is_empty() {
            return;
        }
        let _ = write!(html, "<div class=\"{class}\">");
        for item in pictures {
            let (file, caption) = (escaped(&item.file), escaped(&item.caption));
            let _ =
                write!(html, "<figure><img src=\"{file}\" alt=\"{caption}\" loading=\"lazy\"><figcaption>{caption}</figcaption></figure>");
        }
        html.push_str("</div>\n");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const FAMILY: &str = "pliant.png";

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pliant</title>
<style>
:root { color-scheme: light; --ink: #2b2a29; --soft: #6f6a66; --line: #e4e0dc; --paper: #fbfaf8; --accent: #a4563c; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
h1 { font-size: 2.6rem; margin: 0; letter-spacing: -0.02em; }
h2 { font-size: 1.5rem; margin: 0 0 .3rem; letter-spacing: -0.01em; }
p { max-width: 46rem; margin: .4rem 0 1rem; }
header p { color: var(--soft); font-size: 1.1rem; }
nav { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; padding: .8rem 0; border-bottom: 1px solid var(--line); }
nav a, .files a { color: var(--accent); text-decoration: none; } nav a:hover, .files a:hover { text-decoration: underline; }
section { padding: 2.2rem 0 1rem; border-bottom: 1px solid var(--line); }
dl { display: flex; flex-wrap: wrap; gap: .4rem 2.2rem; margin: .6rem 0 1.2rem; }
dt { color: var(--soft); font-size: .82rem; } dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; }
figure { margin: 0; } img { max-width: 100%; height: auto; display: block; border-radius: 8px; }
figcaption { color: var(--soft); font-size: .85rem; padding: .35rem 0 .9rem; }
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); gap: 1rem; }
.files span { color: var(--soft); font-size: .85rem; margin-right: 1rem; }
footer { color: var(--soft); font-size: .85rem; padding-top: 1.5rem; } code { font-family: ui-monospace, monospace; }
</style>
</head>
<body>
<main>
<header><h1>Pliant</h1><p>Pose, touch, blend, transfer and learn the deformation of a character mesh from examples. These are the built-in models and what Pliant does with them.</p></header>
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_break_the_page() {
        let mut section = Section::new("<b>", "a & b");
        section.figure("x", "\"1\"");
        let html = Page { sections: vec![section], ..Page::default() }.html();
        assert!(html.contains("&lt;b&gt;") && html.contains("a &amp; b") && html.contains("&quot;1&quot;"));
    }
}
