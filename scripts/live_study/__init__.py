"""The parts of scripts/live."""
