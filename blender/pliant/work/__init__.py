"""Long work beside Blender's own."""
