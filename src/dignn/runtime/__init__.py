"""What every step needs and no step is about: seeds, files, progress, timing."""
