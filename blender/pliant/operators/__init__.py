"""What an artist can do. Operators are thin: they read settings, call `scene` and `pliant`, and report."""

from . import blend, bones, capture, drag, draw, learn, markers, pins, touch, transfer

MODULES = (drag, draw, pins, capture, touch, blend, transfer, markers, learn, bones)
CLASSES = tuple(cls for module in MODULES for cls in module.CLASSES)
