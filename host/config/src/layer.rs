//! The kinds of sources that configuration comes from.

/// A kind of source, in the order of their weight: a later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The user's `config.toml`.
    UserGlobal,
    /// `.jp/config.toml` of the workspace.
    Workspace,
    /// `.jp.toml` of the current folder and those above it in the workspace.
    Cwd,
    /// The user's `config.toml` for the workspace.
    UserWorkspace,
    /// Variables `JP_CFG_*`.
    Environment,
    /// Files and folders that were named on the command line.
    Config,
    /// Single values, or files, given by `--cfg`.
    CliCfg,
}

impl Layer {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::UserGlobal,
        Self::Workspace,
        Self::Cwd,
        Self::UserWorkspace,
        Self::Environment,
        Self::Config,
        Self::CliCfg,
    ];

    /// Its name, as jp calls it; `config` is this program's own.
    pub fn name(self) -> &'static str {
        match self {
            Self::UserGlobal => "user_global",
            Self::Workspace => "workspace",
            Self::Cwd => "cwd",
            Self::UserWorkspace => "user_workspace",
            Self::Environment => "environment",
            Self::Config => "config",
            Self::CliCfg => "cli_cfg",
        }
    }
}
