//! Finished runs replayed in a browser.
