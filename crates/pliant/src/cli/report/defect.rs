//! The report of a defect of the program: one line, and an exit code of its own.
//!
//! Wrong input never panics; a panic is a defect of Pliant. A farm or a script must be able to tell
//! it from input that cannot be used (exit code 1), and a person must learn where to report it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use super::terminal_text::message_line;

/// Exit code of a defect: `EX_SOFTWARE` of BSD's `sysexits.h`.
pub(crate) const DEFECT: u8 = 70;

/// Runs `work`; a panic is reported in one line and ends with [`DEFECT`]. With `RUST_BACKTRACE`
/// set, the usual report of Rust with its backtrace comes first.
pub(crate) fn report_defects(work: impl FnOnce() -> u8) -> u8 {
    let usual_report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            usual_report(panic);
        }
        super::console::print_message(&defect_line(panic));
    }));

    catch_unwind(AssertUnwindSafe(work)).unwrap_or(DEFECT)
}

fn defect_line(panic: &PanicHookInfo<'_>) -> String {
    let place = panic
        .location()
        .map(|place| format!(" ({}:{})", place.file(), place.line()))
        .unwrap_or_default();

    message_line(&format!(
        "error: defect in pliant {}: {}{place}; please report it with the command line at {}/issues",
        env!("CARGO_PKG_VERSION"),
        text_of(panic.payload()),
        env!("CARGO_PKG_REPOSITORY"),
    ))
}

fn text_of(payload: &dyn Any) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_with_a_code_of_its_own() {
        let code = report_defects(|| panic!("a test of the report of defects"));
        assert_eq!(code, DEFECT);
    }

    #[test]
    fn texts_of_panics_are_found() {
        assert_eq!(text_of(&"fixed"), "fixed");
        assert_eq!(text_of(&String::from("formatted")), "formatted");
        assert_eq!(text_of(&7), "no message");
    }
}
