//! Actors for the examples. Nothing here knows a board or a host: the binaries beside it bring one.

pub mod dictionary;
