"""Inside Kit: the only room that imports omni. `extension` is the module that `config/extension.toml` names."""
