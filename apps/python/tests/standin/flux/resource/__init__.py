"""Resource sets and pools."""
