//! MCP servers that the test itself plays at the other end of a pipe, and a few that are processes.

mod asking;
mod calling;
mod played;
mod processes;
mod starting;
