//! Prints the results of the desktop, with which the test of the page compares its own.

#![allow(clippy::print_stdout, reason = "an example reports to its reader")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", pliant_web::same_bits::method_results_json()?);
    Ok(())
}
