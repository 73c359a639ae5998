//! MCP servers that the test itself plays at the other end of a pipe, and a few that are processes.

mod calls;
mod elicitations;
mod fake_server;
mod processes;
mod startup;
