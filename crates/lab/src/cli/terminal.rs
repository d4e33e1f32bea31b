//! How wide the terminal is.

/// What is assumed where nobody says.
const USUAL: usize = 80;
/// Nothing can be laid out in less.
const LEAST: usize = 40;

/// Columns to write in: those that `COLUMNS` gives, else the terminal's, else 80.
pub fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let seen = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    choose(told, seen)
}

fn choose(told: Option<usize>, seen: impl FnOnce() -> Option<usize>) -> usize {
    let real = |columns: &usize| *columns > 0;
    told.filter(real).or_else(|| seen().filter(real)).unwrap_or(USUAL).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_counts_more_than_what_is_seen() {
        assert_eq!(choose(Some(120), || Some(60)), 120);
        assert_eq!(choose(Some(0), || Some(60)), 60);
        assert_eq!(choose(None, || Some(0)), USUAL);
        assert_eq!(choose(None, || None), USUAL);
        assert_eq!(choose(Some(7), || None), LEAST);
    }
}
