"""What an artist sees: panels, tools, handles in the view, preferences."""

from . import overlay, panels, preferences, tools

CLASSES = (*preferences.CLASSES, *panels.CLASSES)


def attach() -> None:
    overlay.attach()
    tools.attach()


def detach() -> None:
    tools.detach()
    overlay.detach()
