"""Decision tables of others, from DMN, CSV and XLSX, and lines of policies, as policies for review."""
