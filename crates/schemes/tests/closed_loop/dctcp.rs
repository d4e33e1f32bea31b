//! DCTCP against its own analysis.
