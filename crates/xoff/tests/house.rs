//! What needs the whole repository: its rules, its pages, its corpus, what is built on a checkout, its pages in a browser.
//! One binary: while one test waits for a browser, for cargo or for another program, the next one runs.

mod common;

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
