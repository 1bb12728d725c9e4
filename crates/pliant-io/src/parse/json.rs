//! What is wrong with a JSON text, in words for a person.

/// What is wrong with a JSON text: where it is no JSON, or what its content lacks.
#[must_use]
pub fn json_problem(error: &serde_json::Error) -> String {
    let line = error.line();
    if !error.is_data() {
        return format!("it is not JSON (line {line}, column {})", error.column());
    }

    // The parser's text ends with line and column.
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text);
    if line == 0 {
        message.to_owned()
    } else {
        format!("{message} (line {line})")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_str};

    use super::*;

    #[test]
    fn a_text_that_is_no_json_is_named_with_its_place() {
        let broken = from_str::<Value>("{\n  \"a\": oops\n}").unwrap_err();
        assert_eq!(json_problem(&broken), "it is not JSON (line 2, column 8)");
        let empty = from_str::<Value>("").unwrap_err();
        assert_eq!(json_problem(&empty), "it is not JSON (line 1, column 0)");
    }

    #[test]
    fn content_of_another_form_is_described() {
        let wrong = from_str::<Vec<f64>>("[1,\n true]").unwrap_err();
        let message = json_problem(&wrong);
        assert!(
            message.contains("true") && message.ends_with("(line 2)"),
            "{message}"
        );
    }
}
