"""The shared language of both wings: models, logic, the bundle, the command."""
