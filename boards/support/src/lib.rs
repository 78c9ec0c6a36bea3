//! What every board shares: epitaphs, stack high-water marks, boot checks.
#![no_std]
