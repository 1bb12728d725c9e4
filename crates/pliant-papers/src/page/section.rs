//! A section of a page, and its HTML text.

use std::fmt::Write;

use pliant_view::{Image, ViewError, to_apng};

use super::{Plot, Table, escaped, svg, viewer};

/// A section of a page: a title, a paragraph and figures, then tables, plots and pictures.
#[derive(Debug, Clone, Default)]
pub struct Section {
    pub(super) title: String,
    text: String,
    pub(super) figures: Vec<(String, String)>,
    pub(super) warnings: Vec<String>,
    pub(super) parts: Vec<Part>,
}

/// The content below one paragraph.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    text: String,
    pub(super) tables: Vec<Table>,
    plots: Vec<(Plot, String)>,
    wide: Vec<File>,
    small: Vec<File>,
    viewers: Vec<File>,
    files: Vec<File>,
    links: Vec<(String, String)>,
}

/// A file beside the page.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) caption: String,
    pub(super) bytes: Vec<u8>,
}

impl Section {
    /// A section with its first paragraph.
    #[must_use]
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            text: text.into(),
            parts: vec![Part::default()],
            ..Self::default()
        }
    }

    /// Adds a figure with its name at the top of the section.
    pub fn figure(&mut self, name: &str, value: impl Into<String>) {
        self.figures.push((name.to_owned(), value.into()));
    }

    /// Adds a warning, such as missing data.
    pub fn warning(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Adds a paragraph below all that is here; what is added next stands below it. Between two
    /// paragraphs, tables come first, then plots, wide pictures, small pictures, viewers and files.
    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.parts.push(Part {
            text: text.into(),
            ..Part::default()
        });
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.part().tables.push(table);
    }

    /// Adds a plot, beside others where there is room.
    pub fn plot(&mut self, plot: Plot, caption: impl Into<String>) {
        self.part().plots.push((plot, caption.into()));
    }

    /// Adds a picture across the page.
    ///
    /// # Errors
    /// An image that cannot be encoded.
    pub fn wide(&mut self, file: &str, caption: &str, image: &Image) -> Result<(), ViewError> {
        let file = File::new(file, caption, image.to_png()?);
        self.part().wide.push(file);
        Ok(())
    }

    /// Adds a picture beside others.
    ///
    /// # Errors
    /// An image that cannot be encoded.
    pub fn small(&mut self, file: &str, caption: &str, image: &Image) -> Result<(), ViewError> {
        let file = File::new(file, caption, image.to_png()?);
        self.part().small.push(file);
        Ok(())
    }

    /// Adds an animated picture beside others.
    ///
    /// # Errors
    /// Images that cannot be encoded.
    pub fn moving(
        &mut self,
        file: &str,
        caption: &str,
        frames: &[Image],
        frame_millis: u16,
    ) -> Result<(), ViewError> {
        let file = File::new(file, caption, to_apng(frames, frame_millis)?);
        self.part().small.push(file);
        Ok(())
    }

    /// Adds a mesh or a clip that can be turned and played; `page` is a [`viewer_page`](super::viewer_page).
    pub fn viewer(&mut self, file: &str, caption: &str, page: String) {
        let file = File::new(file, caption, page.into_bytes());
        self.part().viewers.push(file);
    }

    /// Adds a file for download.
    pub fn file(&mut self, file: &str, caption: &str, bytes: Vec<u8>) {
        let file = File::new(file, caption, bytes);
        self.part().files.push(file);
    }

    /// Adds a link to another page, relative to this one.
    pub fn link(&mut self, address: &str, words: &str) {
        self.part()
            .links
            .push((address.to_owned(), words.to_owned()));
    }

    fn part(&mut self) -> &mut Part {
        self.parts.last_mut().expect("a section begins with a part")
    }

    pub(super) fn write_html(&self, number: usize, html: &mut String) {
        let _ = writeln!(
            html,
            "<section id=\"s{number}\">\n<h2>{}</h2>\n<p>{}</p>",
            escaped(&self.title),
            escaped(&self.text)
        );

        if !self.figures.is_empty() {
            html.push_str("<dl>");
            for (name, value) in &self.figures {
                let _ = write!(
                    html,
                    "<div><dt>{}</dt><dd>{}</dd></div>",
                    escaped(name),
                    escaped(value)
                );
            }

            html.push_str("</dl>\n");
        }

        for warning in &self.warnings {
            let _ = writeln!(html, "<p class=\"problem\">{}</p>", escaped(warning));
        }

        for part in self.parts.iter() {
            part.write_html(html);
        }
        html.push_str("</section>\n");
    }
}

impl Part {
    fn write_html(&self, html: &mut String) {
        if !self.text.is_empty() {
            let _ = writeln!(html, "<p>{}</p>", escaped(&self.text));
        }

        for table in self.tables.iter() {
            table.write_html(html);
        }
        if !self.plots.is_empty() {
            html.push_str("<div class=\"plots\">");
            for (plot, caption) in &self.plots {
                let _ = write!(
                    html,
                    "<figure>{}<figcaption>{}</figcaption></figure>",
                    svg::inline(plot),
                    escaped(caption)
                );
            }

            html.push_str("</div>\n");
        }

        write_pictures(&self.wide, "wide", html);
        write_pictures(&self.small, "row", html);
        if !self.viewers.is_empty() {
            html.push_str("<div class=\"row\">");
            for File { name, caption, .. } in &self.viewers {
                viewer::write_frame(name, caption, html);
            }
            html.push_str("</div>\n");
        }
        self.write_links(html);
    }

    fn write_links(&self, html: &mut String) {
        if self.files.is_empty() && self.links.is_empty() {
            return;
        }

        html.push_str("<p class=\"files\">");
        for File { name, caption, .. } in &self.files {
            let _ = write!(
                html,
                "<a href=\"{0}\" download>{0}</a> <span>{1}</span> ",
                escaped(name),
                escaped(caption)
            );
        }

        for (address, words) in &self.links {
            let _ = write!(
                html,
                "<a href=\"{}\">{}</a> ",
                escaped(address),
                escaped(words)
            );
        }

        html.push_str("</p>\n");
    }

    pub(super) fn all_files(&self) -> impl Iterator<Item = &File> {
        let pictures = self.wide.iter().chain(&self.small);
        pictures.chain(&self.viewers).chain(&self.files)
    }
}

impl File {
    pub(super) fn new(name: &str, caption: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            caption: caption.to_owned(),
            bytes,
        }
    }
}

fn write_pictures(pictures: &[File], class: &str, html: &mut String) {
    if pictures.is_empty() {
        return;
    }

    let _ = write!(html, "<div class=\"{class}\">");
    for File { name, caption, .. } in pictures {
        let (file, caption) = (escaped(name), escaped(caption));
        let _ = write!(
            html,
            "<figure><img src=\"{file}\" alt=\"{caption}\" loading=\"lazy\"><figcaption>{caption}</figcaption></figure>"
        );
    }

    html.push_str("</div>\n");
}
