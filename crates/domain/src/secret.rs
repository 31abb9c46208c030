//! Values that cannot be printed, logged or serialised: a token read from the configuration stays one until
//! the line that hands it to its platform calls [`ExposeSecret::expose_secret`]. Memory is wiped on drop.
//!
//! ```
//! use talaria_domain::secret::{ExposeSecret, SecretString};
//!
//! let token = SecretString::from("hunter2");
//! assert!(!format!("{token:?}").contains("hunter2"));
//! assert_eq!(token.expose_secret(), "hunter2");
//! ```
//!
//! It has no `Display`:
//!
//! ```compile_fail,E0277
//! let token = talaria_domain::secret::SecretString::from("hunter2");
//! println!("{token}");
//! ```
//!
//! and no `Serialize`:
//!
//! ```compile_fail,E0277
//! let token = talaria_domain::secret::SecretString::from("hunter2");
//! serde_json::to_string(&token).unwrap();
//! ```

pub use secrecy::{ExposeSecret, SecretBox as Secret, SecretString};
