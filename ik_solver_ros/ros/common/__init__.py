"""What the nodes share: parameters, conversions of messages, clocks, diagnostics."""
