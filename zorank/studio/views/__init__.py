"""Describes state as response models; changes nothing. One module a topic, as in `models`."""
