//! Test suites of Flockwork; the targets are listed in the manifest.
