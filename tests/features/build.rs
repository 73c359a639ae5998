//! A build script, because without one cargo leaves build dependencies out.

fn main() {}
