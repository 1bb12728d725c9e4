"""Arithmetic on arrays and text. Nothing here knows Blender, so that it can be tested without it."""
