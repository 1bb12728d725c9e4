"""Blender's data as arrays, and back."""
