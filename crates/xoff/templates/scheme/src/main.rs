//! All of `xoff`, and my-idea beside the schemes it has.

mod my_idea;

use xoff::schemes::{Any, With};

fn main() -> std::process::ExitCode {
    xoff::cli::main_with::<With<my_idea::MyIdea, Any>>()
}
