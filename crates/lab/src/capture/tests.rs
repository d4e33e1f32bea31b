//! What is refused, and bytes that can be worked out by hand.
