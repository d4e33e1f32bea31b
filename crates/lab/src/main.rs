//! The `xoff` program.

fn main() -> std::process::ExitCode {
    xoff_lab::cli::main()
}
