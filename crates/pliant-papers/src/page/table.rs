//! Tables with a caption, right-aligned numbers, and the best number of a column highlighted.

use std::fmt::Write;

use super::escaped;

/// Rows of text under a header.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    caption: String,
    header: Vec<String>,
    rows: Vec<Row>,
    best: Vec<Option<Best>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    cells: Vec<String>,
    quoted: bool,
}

/// Which number of a column is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Best {
    /// The least, for times and errors.
    Least,
    /// The greatest.
    Greatest,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new<S: Into<String>>(
        caption: impl Into<String>,
        header: impl IntoIterator<Item = S>,
    ) -> Self {
        let header: Vec<String> = header.into_iter().map(Into::into).collect();
        Self {
            caption: caption.into(),
            best: vec![None; header.len()],
            header,
            rows: Vec::new(),
        }
    }

    /// The table with the best number of a column, counted from 0, highlighted.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn with_best(mut self, column: usize, best: Best) -> Self {
        assert!(
            column < self.header.len(),
            "column {column} is beyond the header"
        );
        self.best[column] = Some(best);
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the row does not have one cell per column.
    pub fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.add(cells.into_iter().map(Into::into).collect(), false);
    }

    /// Adds a row of published numbers: it is set in italics and never highlighted.
    ///
    /// # Panics
    /// If the row does not have one cell per column.
    pub fn push_quoted<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.add(cells.into_iter().map(Into::into).collect(), true);
    }

    fn add(&mut self, cells: Vec<String>, quoted: bool) {
        assert_eq!(
            cells.len(),
            self.header.len(),
            "a row has one cell per column"
        );
        self.rows.push(Row { cells, quoted });
    }

    /// The caption.
    #[must_use]
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// The names of the columns.
    #[must_use]
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The cells of every row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[String]> {
        self.rows.iter().map(|row| row.cells.as_slice())
    }

    pub(super) fn write_html(&self, html: &mut String) {
        let _ = write!(html, "<figure class=\"table\"><table>\n<thead><tr>");
        for (column, name) in self.header.iter().enumerate() {
            let class = if self.is_numeric(column) {
                " class=\"number\""
            } else {
                ""
            };
            let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(name));
        }

        html.push_str("</tr></thead>\n<tbody>\n");
        let best: Vec<Option<f64>> = (0..self.header.len())
            .map(|column| self.best_of(column))
            .collect();
        for row in &self.rows {
            self.write_row(row, &best, html);
        }
        let _ = writeln!(
            html,
            "</tbody></table><figcaption>{}</figcaption></figure>",
            escaped(&self.caption)
        );
    }

    fn write_row(&self, row: &Row, best: &[Option<f64>], html: &mut String) {
        html.push_str(if row.quoted {
            "<tr class=\"quoted\">"
        } else {
            "<tr>"
        });

        for (column, cell) in row.cells.iter().enumerate() {
            let number = number_in(cell);
            let is_best = !row.quoted && best[column].is_some() && number == best[column];
            let is_right = number.is_some() || self.is_numeric(column);
            let class = match (is_right, is_best) {
                (false, false) => "",
                (true, false) => " class=\"number\"",
                (false, true) => " class=\"best\"",
                (true, true) => " class=\"number best\"",
            };
            let _ = write!(html, "<td{class}>{}</td>", escaped(cell));
        }
        html.push_str("</tr>\n");
    }

    /// Whether a column contains only numbers and gaps.
    fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self
            .rows
            .iter()
            .map(|row| row.cells[column].as_str())
            .filter(|cell| !is_gap(cell))
            .peekable();
        cells.peek().is_some() && cells.all(|cell| number_in(cell).is_some())
    }

    fn best_of(&self, column: usize) -> Option<f64> {
        let numbers = self
            .rows
            .iter()
            .filter(|row| !row.quoted)
            .filter_map(|row| number_in(&row.cells[column]));
        match self.best[column]? {
            Best::Least => numbers.min_by(f64::total_cmp),
            Best::Greatest => numbers.max_by(f64::total_cmp),
        }
    }
}

fn is_gap(cell: &str) -> bool {
    matches!(cell.trim(), "" | "-" | "–" | "—")
}

/// The number at the start of a cell, as in `−1,204.5 ms`; none in words or in `3D`.
fn number_in(cell: &str) -> Option<f64> {
    let first = cell.split_whitespace().next()?;
    let digits = first
        .trim_end_matches('%')
        .replace('−', "-")
        .replace(',', "");
    let looks = digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));

    digits
        .parse::<f64>()
        .ok()
        .filter(|value| looks && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(table: &Table) -> String {
        let mut html = String::new();
        table.write_html(&mut html);
        html
    }

    #[test]
    fn numbers_are_read_with_signs_thousands_and_units() {
        let read = [
            "−1,204.5 ms",
            "12%",
            "0.2 %",
            "1e-3",
            "+3",
            ".5",
            "",
            "–",
            "head",
            "3D",
            "inf",
            "nan",
            "-",
        ]
        .map(number_in);

        let numbers = [
            Some(-1204.5),
            Some(12.0),
            Some(0.2),
            Some(1e-3),
            Some(3.0),
            Some(0.5),
        ];

        assert_eq!(read[..6], numbers);
        assert_eq!(read[6..], [None; 7]);
    }

    #[test]
    fn a_quoted_number_is_never_highlighted() {
        let mut table = Table::new("times", ["model", "ms"]).with_best(1, Best::Least);
        table.push(["a", "2.5"]);
        table.push(["b", "1.5"]);
        table.push_quoted(["the paper's", "0.5"]);

        let html = html(&table);
        assert!(
            html.contains("<td class=\"number best\">1.5</td>"),
            "{html}"
        );
        assert_eq!(html.matches("best").count(), 1, "{html}");
    }

    #[test]
    fn columns_of_numbers_and_gaps_are_right_aligned() {
        let mut table = Table::new("", ["model", "ms", "note"]);
        table.push(["a", "2.5", "8"]);
        table.push(["b", "–", "none"]);

        let html = html(&table);
        assert!(
            html.contains("<th scope=\"col\" class=\"number\">ms</th>")
                && html.contains("<td class=\"number\">–</td>"),
            "{html}"
        );

        assert!(
            html.contains("<th scope=\"col\">note</th>")
                && html.contains("<td>none</td>")
                && html.contains("<td>b</td>"),
            "{html}"
        );
    }

    #[test]
    fn special_characters_are_escaped() {
        let mut table = Table::new("a < b & c", ["<th>", "\"q\""]);
        table.push(["</td>", "&"]);
        let html = html(&table);

        for text in [
            "a &lt; b &amp; c",
            "&lt;th&gt;",
            "&quot;q&quot;",
            "<td>&lt;/td&gt;</td>",
            "<td>&amp;</td>",
        ] {
            assert!(html.contains(text), "{text} in {html}");
        }
    }

    #[test]
    fn an_empty_table_has_a_header() {
        assert!(html(&Table::new("none", ["a"])).contains("<th scope=\"col\">a</th>"));
    }
}
