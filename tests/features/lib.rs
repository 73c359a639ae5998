//! Nothing but dependencies: see the manifest.
