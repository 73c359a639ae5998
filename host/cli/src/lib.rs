//! The program `jp-policy`: one file per verb in [`cli`], policies made from their source in [`build`], and projects to start from in
//! [`scaffold`]. Only here anything is printed; it must never hold a rule of its own about when a call starts.

pub mod build;
pub mod cli;
pub mod scaffold;
