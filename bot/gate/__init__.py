"""The gate as a service: kept decisions, shared history, HTTP and MCP."""
