//! What needs the whole repository: its rules, its pages, its corpus, what is built on a checkout.

mod common;

mod chakra;
mod corpus;
mod dependencies;
mod modules;
mod own_scheme;
mod pages;
mod prose;
mod signposts;
mod tidy;
