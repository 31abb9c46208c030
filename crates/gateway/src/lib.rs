//! The flow, one folder per stage, in the order in which a message walks through them: intake, routing, access,
//! lanes, turns, delivery. No stage stands yet.
