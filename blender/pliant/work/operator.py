"""Operators that take a while: in the window they run beside Blender, in scripts at once."""

from typing import Any, ClassVar

import bpy

import pliant

from ..core.problem import Cancelled, Problem
from .steps import Running, Steps, run_now

#: Between two looks at the work, in seconds.
INTERVAL = 0.05


def message_of(error: BaseException) -> str:
    """An error as one sentence for a report."""
    if isinstance(error, ReferenceError):
        return "the scene changed while Pliant worked; nothing was written, run it again"
    text = " ".join(str(error).split())
    return text[:1].upper() + text[1:] if text else type(error).__name__


#: What an artist can cause. Everything else is a defect and shows its traceback.
EXPECTED = (Problem, pliant.InputError, pliant.FileError, ReferenceError)


class LongOperator:
    """A base of operators; a subclass gives `steps`."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    #: The work that runs now: one at a time.
    running: ClassVar["LongOperator | None"] = None

    def steps(self, context: bpy.types.Context) -> Steps:
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        manager = context.window_manager
        manager.progress_begin(0.0, 1.0)

        def report(stage: str, share: float) -> bool:
            return True

        try:
            run_now(self.steps(context), report)
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        except (Cancelled, pliant.Stopped):
            self.report({"INFO"}, "Cancelled; nothing was changed")
            return {"CANCELLED"}
        finally:
            manager.progress_end()
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: Any) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        return self.start(context)

    def start(self, context: bpy.types.Context) -> set[str]:
        """Begins to run beside Blender."""
        if LongOperator.running is not None:
            self.report({"WARNING"}, "Pliant is still working; wait, or press Esc")
            return {"CANCELLED"}
        self._work = Running(self.steps(context))
        LongOperator.running = self
        self._timer = context.window_manager.event_timer_add(INTERVAL, window=context.window)
        context.window_manager.progress_begin(0.0, 1.0)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: Any) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            return self._end(context, {"CANCELLED"}, "Cancelled; nothing was changed", {"INFO"})
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            done = self._work.advance()
        except EXPECTED as error:
            return self._end(context, {"CANCELLED"}, message_of(error), {"ERROR"})
        except pliant.Stopped:
            return self._end(context, {"CANCELLED"}, "Cancelled; nothing was changed", {"INFO"})
        except BaseException:
            self._end(context, {"CANCELLED"}, "", {"ERROR"})
            raise
        if done:
            return self._end(context, {"FINISHED"}, "", {"INFO"})
        self._show(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender closes a window or a file."""
        self._end(context, {"CANCELLED"}, "", {"INFO"})

    def _show(self, context: bpy.types.Context) -> None:
        text = f"Pliant: {self._work.stage}, {self._work.share:.0%}. Esc cancels."
        context.window_manager.progress_update(self._work.share)
        if context.workspace is not None:
            context.workspace.status_text_set(text)

    def _end(self, context: bpy.types.Context, result: set[str], text: str, kind: set[str]) -> set[str]:
        self._work.cancel()
        LongOperator.running = None
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        if text:
            self.report(kind, text)
        return result


class QuickOperator:
    """A base of operators that end at once; a subclass gives `do`."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def do(self, context: bpy.types.Context) -> None:
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            self.do(context)
        except EXPECTED as error:
            self.report({"ERROR"}, message_of(error))
            return {"CANCELLED"}
        return {"FINISHED"}
