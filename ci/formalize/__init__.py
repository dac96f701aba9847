"""From what people wrote to rules: conditions lowered to formulas, actions to guarded effects."""
