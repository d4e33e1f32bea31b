//! What needs the whole repository: its rules, its pages, its corpus, what is built on a checkout, its pages in a browser.
//! And all tests of `program`: while one test waits for a browser, for cargo or for another program, others run.

#[path = "program.rs"]
mod program;

use program::{common, perfetto};

mod browser;
mod chakra;
mod corpus;
mod dependencies;
mod modules;
mod own_scheme;
mod pages;
mod prose;
mod signposts;
mod tidy;
