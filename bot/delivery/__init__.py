"""How answers reach people and programs: terminal, HTTP, Slack, MCP, files and pictures."""
