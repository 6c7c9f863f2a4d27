"""Time parameterisation within velocity, acceleration and jerk limits, and sampling."""
