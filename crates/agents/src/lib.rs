//! What thinks: runners, the models and tools they use, and the session context that tools and children see.
//! Knows the domain and nothing else. Nothing thinks here yet.
