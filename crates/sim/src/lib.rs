//! The simulated world: load and faults for the real ledger. Vendors, the scripted model and the deterministic
//! gateway will live here, too.
