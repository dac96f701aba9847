"""The checks that every answer passes before anybody sees it."""
