//! From sources to one checked configuration.

use std::path::PathBuf;

use super::{
    config::Config,
    diagnostic::{ConfigError, Severity},
    document::read_document,
    layer::Layer,
    layers::Layers,
    source::Source,
};

impl Config {
    /// Reads files, and folders of files, with what they extend, and merges them in this order: later ones win.
    ///
    /// The error has everything that is wrong in all of them, files that can't be read included.
    pub fn load(paths: &[PathBuf]) -> Result<Self, ConfigError> {
        let mut layers = Layers::default();
        for path in paths {
            layers.path(path);
        }
        layers.build()
    }

    /// Merges sources in this order: later ones win. What they extend is not read.
    ///
    /// The error has everything that is wrong in all of them.
    ///
    /// ```
    /// use jp_policy_config::{Config, Source};
    ///
    /// let text = r#"
    /// [conversation.tools.git_add]
    /// command = "git add {{tool.arguments.path}}"
    /// concurrency = { key = "git" }
    /// "#;
    /// let config = Config::from_sources(&[Source::new("tools.toml", text)])?;
    /// let settings = config.settings();
    /// assert_eq!(settings.keys[0].name, "git");
    /// assert_eq!(settings.keys[0].limit, 1);
    /// # Ok::<(), jp_policy_config::ConfigError>(())
    /// ```
    pub fn from_sources(sources: &[Source]) -> Result<Self, ConfigError> {
        let mut layers = Layers::default();
        for source in sources {
            layers.source(Layer::Config, source);
        }
        layers.build()
    }
}

impl Layers {
    /// Merges the layers and checks the result. The error has everything that is wrong, in all layers; without an error, warnings
    /// are kept in [`Config::warnings`].
    pub fn build(self) -> Result<Config, ConfigError> {
        let (merged, mut problems) = self.merge();
        let mut config = Config::default();
        if let Some(root) = merged {
            config = read_document(root, &mut problems);
            problems.extend(config.check());
        }
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(ConfigError(problems));
        }
        config.warnings = problems;
        Ok(config)
    }
}
