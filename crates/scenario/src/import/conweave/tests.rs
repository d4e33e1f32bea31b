//! ConWeave's configuration, from text to a loaded scenario.
