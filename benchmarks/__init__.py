"""Measurements, printed as Markdown: python -m benchmarks [solvers] [latency] [idle] [startup]."""
