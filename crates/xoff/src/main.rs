//! The `xoff` program.

fn main() -> std::process::ExitCode {
    xoff::cli::main()
}
