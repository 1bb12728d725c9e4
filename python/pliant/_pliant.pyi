"""Types of the compiled module. Shapes: n vertices, m triangles, f frames, s sliders, p pins."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Floats: TypeAlias = NDArray[np.float64]
_Integers: TypeAlias = NDArray[np.int64]
_Path: TypeAlias = str | PathLike[str]
_Faces: TypeAlias = ArrayLike | Sequence[Sequence[int]]
_Weights: TypeAlias = ArrayLike | Mapping[str, float]
_Sliders: TypeAlias = Sequence[str | int]
_ProgressFunction: TypeAlias = Callable[[str, float], Any]
_Progress: TypeAlias = _ProgressFunction | bool | None
_View: TypeAlias = Literal["front", "back", "side", "three-quarter", "top"]
_Amount: TypeAlias = Literal["auto", "none"] | float | None
_LearnMethod: TypeAlias = Literal["auto", "paper", "feng", "meshik", "arap"]
_Sides: TypeAlias = Literal["own", "symmetric", "mirrored"]
_Method: TypeAlias = Literal["auto", "warp", "registration", "identity"]

__version__: str

__all__ = [
    "Asset",
    "Baker",
    "Blend",
    "BlendFrame",
    "Bones",
    "BoxQuadratic",
    "Clip",
    "Correspondence",
    "Decimation",
    "DeformationGradients",
    "ExactGeodesics",
    "Grab",
    "HeatGeodesics",
    "IkSolver",
    "Inverse",
    "Inverter",
    "LeastSquares",
    "LiveSession",
    "LoopSubdivision",
    "MarkerTrack",
    "Mesh",
    "Model",
    "Obstacle",
    "Performance",
    "Pin",
    "Played",
    "Pose",
    "PosePrior",
    "Poser",
    "Residual",
    "ResidualLayer",
    "Rig",
    "RigBlend",
    "SketchCamera",
    "SketchedPose",
    "Smoother",
    "SparseMatrix",
    "SpdSolver",
    "SurfaceGradient",
    "SurfaceIndex",
    "Touch",
    "check_markers",
    "edge_path",
    "flexibility",
    "landmarks",
    "laplacian",
    "load",
    "mean_value_laplacian",
    "mirror_markers",
    "register_scans",
    "render",
    "run_command",
    "save",
    "save_picture",
    "specimens",
    "suggest_markers",
    "touch_clip",
    "transfer",
    "transfer_clip",
    "transfer_shapes",
    "turntable",
    "viewer_page",
    "__version__",
]

class _ShapeReport(TypedDict):
    name: str
    moved: int
    pairs: int
    lost_pairs: int
    gap_before: float
    gap_after: float
    warnings: list[str]

class _TouchReport(TypedDict):
    substeps: int
    contacts: int
    face_contacts: int
    max_penetration: float
    max_face_penetration: float
    max_strain: float
    max_displacement: float

class _ClosestPoints(TypedDict):
    points: _Floats
    distances: _Floats
    triangles: _Integers
    barycentric: _Floats

class _ScanReport(TypedDict):
    name: str
    rigid: float
    markers: float
    mean_before: float
    mean_after: float
    max_after: float
    missed: int
    flipped: int

class _Repair(TypedDict):
    what: str
    place: str
    count: int
    indices: _Integers

class _MarkerVerdict(TypedDict):
    deviation: float | None
    wrong: bool
    flaws: list[str]
    messages: list[str]

class _MarkerCheck(TypedDict):
    pairs: list[_MarkerVerdict]
    warnings: list[str]

class _PairedTest(TypedDict):
    mean_difference: float
    sign_p: float
    rank_p: float

class _Comparison(TypedDict):
    errors: dict[str, _Floats]
    tests: dict[str, _PairedTest]

class _Skin(TypedDict):
    names: list[str]
    parents: list[int | None]
    bind: _Floats
    weights: _Floats

class _PacketCounts(TypedDict):
    late: int
    lost: int
    unreadable: int
    other_senders: int

class _Drawn(TypedDict):
    feature: str | None
    ends: str
    radius: float
    central_angle_rad: float
    middle_ordinate: float
    cut: bool

def load(locator: _Path, *, neutral: str | None = None) -> Asset: ...
def save(path: _Path, content: Asset | Rig | Mesh | Clip) -> list[str]: ...
def specimens() -> list[str]: ...
def run_command(arguments: Sequence[str]) -> int: ...
def viewer_page() -> str: ...
def landmarks(content: Rig | Mesh) -> dict[str, tuple[int, float]]: ...
def flexibility(clip: Clip) -> _Floats: ...
def suggest_markers(
    source: Mesh,
    target: Mesh,
    *,
    markers: ArrayLike | None = None,
    count: int = 4,
    progress: _Progress = None,
) -> _Integers: ...
def check_markers(source: Mesh, target: Mesh, markers: ArrayLike) -> _MarkerCheck: ...
def mirror_markers(source: Mesh, target: Mesh, markers: ArrayLike) -> tuple[_Integers, list[str]]: ...
def transfer(
    recipe: Mapping[str, Any],
    target: Mesh,
    sources: Mapping[str, Clip],
    *,
    markers: Mapping[str, ArrayLike] | None = None,
    progress: _Progress = None,
) -> tuple[Clip, list[str]]: ...
def register_scans(
    reference: Mesh,
    scans: Sequence[tuple[Mesh, ArrayLike]],
    *,
    names: Sequence[str] | None = None,
    vertices: int | None = None,
    levels: int = ...,
    smoothing: float = ...,
    reach: float = ...,
    icp: int = 0,
    chain: bool = True,
    progress: _Progress = None,
) -> tuple[Clip, Clip, list[_ScanReport]]: ...
def edge_path(mesh: Mesh, start: int, end: int) -> _Integers | None: ...
def laplacian(mesh: Mesh, *, kind: Literal["cotangent", "robust"] = "cotangent") -> tuple[SparseMatrix, _Floats]: ...
def mean_value_laplacian(mesh: Mesh) -> SparseMatrix: ...
def render(
    content: Asset | Rig | Mesh,
    *,
    view: _View = "three-quarter",
    size: tuple[int, int] = ...,
    weights: _Weights | None = None,
    wire: bool = False,
    flat: bool = False,
    clay: bool = False,
    values: ArrayLike | None = None,
    title: str = "",
    value_range: tuple[float, float] | None = None,
    isolines: float | None = None,
    rest: Mesh | None = None,
) -> NDArray[np.uint8]: ...
def turntable(
    content: Asset | Rig | Mesh,
    *,
    frames: int = 36,
    view: _View = "three-quarter",
    size: tuple[int, int] = ...,
    weights: _Weights | None = None,
    wire: bool = False,
    flat: bool = False,
    clay: bool = False,
) -> NDArray[np.uint8]: ...
def save_picture(path: _Path, picture: NDArray[np.uint8], *, frames_per_second: float = 24.0) -> None: ...
def touch_clip(
    mesh: Mesh,
    patches: Sequence[tuple[int, float]],
    *,
    colliders: Sequence[tuple[Obstacle, Sequence[float]]] = ...,
    pulls: Mapping[int, ArrayLike] | None = None,
    animation: Clip | None = None,
    ending: Literal["return", "hold", "release"] = "return",
    frames: int | None = None,
    settle_secs: float = 0.0,
    frames_per_second: float = ...,
    friction: float = 0.3,
    method: Literal["xpbd", "verlet"] = "xpbd",
    material: Mapping[str, float] | None = None,
    substeps: int | None = None,
    gravity: ArrayLike | None = None,
    inertia: float = 0.0,
    pins: ArrayLike | None = None,
    skin_contact: bool = False,
    progress: _Progress = None,
) -> Clip: ...
def transfer_shapes(
    source: Rig,
    target: Mesh,
    *,
    correspondence: Correspondence | None = None,
    markers: ArrayLike | None = None,
    method: _Method = "auto",
    tolerance: float = ...,
    closures: bool = True,
    progress: _Progress = None,
) -> tuple[Rig, list[_ShapeReport]]: ...
def transfer_clip(
    clip: Clip,
    target: Mesh,
    *,
    markers: ArrayLike | None = None,
    method: _Method = "auto",
    turn: bool = True,
    align_poses: bool = False,
    root: Literal["carry", "fix"] = "carry",
    feet: bool = False,
    untangle: bool = False,
    progress: _Progress = None,
) -> Clip: ...
@final
class Asset:
    def __new__(cls, content: Asset | Rig | Mesh | Clip) -> Asset: ...
    @property
    def name(self) -> str: ...
    @property
    def objects(self) -> list[str]: ...
    @property
    def clips(self) -> list[str]: ...
    @property
    def target_names(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def meters_per_unit(self) -> float | None: ...
    def mesh(self) -> Mesh: ...
    def rig(self) -> Rig: ...
    def clip(self) -> Clip: ...
    def part(self, name: str) -> Asset: ...
    def at_frame(self, frame: int) -> Asset: ...
    def with_rig(self, rig: Rig) -> Asset: ...
    def performance(self) -> Performance: ...
    def pruned(self, shortest: float) -> Asset: ...
    def with_clip_as_shapes(self, *, tolerance: float = 3e-5) -> Asset: ...
    def skin(self, object: str) -> _Skin | None: ...
    def play(
        self,
        performance: Performance,
        *,
        map: Mapping[str, Any] | None = None,
        sides: _Sides = "own",
        head: Literal["auto", "mesh", "none"] = "auto",
        still_eyes: bool = False,
        pivot: ArrayLike | None = None,
        tolerance: float = 0.0,
    ) -> Played: ...
    def repaired(self, kinds: Sequence[str] | None = None) -> tuple[Asset, list[_Repair], list[str]]: ...
    def in_space(self, up: Literal["y", "z"], meters_per_unit: float) -> Asset: ...
    def save(self, path: _Path) -> list[str]: ...

@final
class Baker:
    def __new__(cls, asset: Asset, *, size: int = ..., padding: int = ...) -> Baker: ...
    @property
    def coverage(self) -> float: ...
    @property
    def warnings(self) -> list[str]: ...
    def bake(self, base: ArrayLike, detailed: ArrayLike) -> tuple[_Floats, NDArray[np.uint8]]: ...

@final
class Mesh:
    def __new__(cls, positions: ArrayLike, faces: _Faces, *, name: str = "") -> Mesh: ...
    @property
    def name(self) -> str: ...
    @property
    def positions(self) -> _Floats: ...
    @property
    def faces(self) -> list[list[int]]: ...
    @property
    def triangles(self) -> _Integers: ...
    @property
    def triangle_faces(self) -> _Integers: ...
    @property
    def vertex_count(self) -> int: ...
    @property
    def face_count(self) -> int: ...
    def posed(self, positions: ArrayLike) -> Mesh: ...
    def area(self) -> float: ...
    def signed_volume(self) -> float: ...
    def mean_edge_length(self) -> float: ...
    def vertex_normals(self) -> _Floats: ...
    def vertex_components(self) -> _Integers: ...
    def vertex_means(self, of_triangles: ArrayLike) -> _Floats: ...
    def report(self) -> dict[str, Any]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Mesh: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def _repr_html_(self) -> str: ...

@final
class Clip:
    def __new__(
        cls,
        reference: Mesh,
        frames: ArrayLike,
        *,
        name: str = "",
        frame_names: Sequence[str] | None = None,
        frames_per_second: float | None = None,
    ) -> Clip: ...
    @property
    def name(self) -> str: ...
    @property
    def reference(self) -> Mesh: ...
    @property
    def frames(self) -> _Floats: ...
    @property
    def frame_names(self) -> list[str]: ...
    @property
    def frames_per_second(self) -> float: ...
    @property
    def duration_secs(self) -> float: ...
    def positions_at(self, secs: float) -> _Floats: ...
    def mesh_at(self, frame: int) -> Mesh: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Clip: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, frame: int, /) -> _Floats: ...

@final
class HeatGeodesics:
    def __new__(
        cls, mesh: Mesh, *, variant: Literal["anchored", "published"] = "anchored", time_factor: float | None = None
    ) -> HeatGeodesics: ...
    def distances(self, sources: int | ArrayLike) -> _Floats: ...

@final
class ExactGeodesics:
    def __new__(cls, mesh: Mesh) -> ExactGeodesics: ...
    def distances(self, sources: int | ArrayLike, *, progress: _Progress = None) -> _Floats: ...
    def disc(
        self, sources: int | ArrayLike, radius: float, *, progress: _Progress = None
    ) -> tuple[_Integers, _Floats]: ...

@final
class SparseMatrix:
    def __new__(cls, data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, columns: int) -> SparseMatrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def data(self) -> _Floats: ...
    @property
    def indices(self) -> NDArray[np.int32]: ...
    @property
    def indptr(self) -> NDArray[np.int32]: ...
    def to_scipy(self) -> Any: ...
    def to_dense(self) -> _Floats: ...
    def __matmul__(self, x: ArrayLike, /) -> _Floats: ...
    def __rmatmul__(self, other: Any, /) -> Any: ...

@final
class SurfaceGradient:
    def __new__(cls, mesh: Mesh) -> SurfaceGradient: ...
    def gradient(self, function: ArrayLike) -> _Floats: ...
    def divergence(self, field: ArrayLike) -> _Floats: ...
    @property
    def areas(self) -> _Floats: ...

@final
class DeformationGradients:
    def __new__(cls, rest: Mesh) -> DeformationGradients: ...
    def at(self, positions: ArrayLike) -> _Floats: ...

@final
class SpdSolver:
    def __new__(cls, matrix: Any) -> SpdSolver: ...
    def solve(self, rhs: ArrayLike) -> _Floats: ...

@final
class LeastSquares:
    def __new__(
        cls, matrix: Any, *, soft: Mapping[int, float] | None = None, hard: ArrayLike | None = None
    ) -> LeastSquares: ...
    def solve(
        self, b: ArrayLike, *, soft_targets: ArrayLike | None = None, hard_values: ArrayLike | None = None
    ) -> _Floats: ...

@final
class BoxQuadratic:
    def __new__(cls, hessian: ArrayLike) -> BoxQuadratic: ...
    def solve(
        self,
        linear: ArrayLike,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        penalties: ArrayLike | None = None,
    ) -> tuple[_Floats, float]: ...

@final
class Smoother:
    def __new__(
        cls,
        mesh: Mesh,
        *,
        iterations: int = ...,
        step: float = ...,
        pass_band: float | None = None,
        weights: Literal["uniform", "inverse-length"] = "uniform",
        boundary: Literal["fixed", "along-curve", "free"] = "fixed",
    ) -> Smoother: ...
    def smooth(self, positions: ArrayLike) -> _Floats: ...

@final
class LoopSubdivision:
    def __new__(cls, mesh: Mesh, levels: int = 1, *, weights: Literal["loop", "warren"] = "loop") -> LoopSubdivision: ...
    @property
    def mesh(self) -> Mesh: ...
    def apply(self, positions: ArrayLike) -> _Floats: ...

@final
class Decimation:
    def __new__(
        cls,
        mesh: Mesh,
        *,
        vertices: int | None = None,
        triangles: int | None = None,
        placement: Literal["optimal", "subset"] = "optimal",
        poses: ArrayLike | None = None,
        kept: ArrayLike | None = None,
        progress: _Progress = None,
    ) -> Decimation: ...
    @property
    def mesh(self) -> Mesh: ...
    @property
    def sources(self) -> _Integers: ...
    @property
    def budget_met(self) -> bool: ...
    @property
    def deviation(self) -> float: ...
    def prolong(self, coarse: ArrayLike) -> _Floats: ...

@final
class SurfaceIndex:
    def __new__(cls, mesh: Mesh) -> SurfaceIndex: ...
    def closest_points(self, queries: ArrayLike) -> _ClosestPoints: ...
    def cast_rays(self, origins: ArrayLike, directions: ArrayLike) -> tuple[_Floats, _Integers]: ...
    def winding_numbers(self, queries: ArrayLike) -> _Floats: ...

@final
class Rig:
    def __new__(
        cls,
        positions: ArrayLike,
        faces: _Faces,
        deltas: ArrayLike,
        names: Sequence[str] | None = None,
        *,
        limits: ArrayLike | Mapping[str, tuple[float, float]] | None = None,
        name: str = "",
    ) -> Rig: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def neutral(self) -> Mesh: ...
    @property
    def positions(self) -> _Floats: ...
    @property
    def triangles(self) -> _Integers: ...
    @property
    def deltas(self) -> NDArray[np.float32]: ...
    @property
    def limits(self) -> _Floats: ...
    @property
    def locked(self) -> list[bool]: ...
    @property
    def combinations(self) -> list[str]: ...
    def with_limits(self, limits: ArrayLike | Mapping[str, tuple[float, float]]) -> Rig: ...
    def with_locked(self, sliders: _Sliders) -> Rig: ...
    def with_settings(self, settings: Mapping[str, Any]) -> Rig: ...
    def with_exclusive(self, pairs: Sequence[_Sliders]) -> Rig: ...
    def evaluate(self, weights: _Weights) -> _Floats: ...
    def mirror(self) -> Rig: ...
    def symmetric(self, side: Literal["left", "right"] = "left") -> Rig: ...
    def mirror_weights(self, weights: _Weights) -> _Floats: ...
    def split(self, targets: _Sliders | None = None, *, width: float | None = None) -> Rig: ...
    def rename(self, names: str | Mapping[str, str]) -> Rig: ...
    def poser(self) -> Poser: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Rig: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...

@final
class Pin:
    def __new__(
        cls,
        vertex: int,
        displacement: ArrayLike | None = None,
        *,
        barycentric: Sequence[float] | None = None,
        across: ArrayLike | None = None,
        along: ArrayLike | None = None,
        curve: ArrayLike | None = None,
        stiffness: float = 1.0,
    ) -> Pin: ...
    @property
    def displacement(self) -> list[float]: ...
    @property
    def stiffness(self) -> float: ...

@final
class Poser:
    @property
    def size(self) -> float: ...
    def grab(
        self,
        pins: Sequence[Pin | int],
        weights: _Weights | None = None,
        *,
        solver: Literal["box", "pinv", "tikhonov", "localized", "transpose", "hybrid"] = "box",
        range: Literal["clip", "free"] = "clip",
        sparsity: float = ...,
        damping: float = ...,
        reach: float | None = None,
        symmetric: bool = False,
        protected: ArrayLike | None = None,
        alpha: float = ...,
        gamma: float | None = None,
        radius: float | None = None,
        units: Literal["relative", "scene"] = "relative",
        prior: PosePrior | None = None,
    ) -> Grab: ...

@final
class Grab:
    def solve(self, displacements: ArrayLike | None = None) -> Pose: ...
    def step(self, displacements: ArrayLike, step: float) -> Pose: ...
    def reset(self) -> None: ...
    def explain(self, pose: Pose) -> dict[str, Any]: ...

@final
class Pose:
    @property
    def method(self) -> str: ...
    @property
    def weights(self) -> _Floats: ...
    @property
    def active(self) -> dict[str, float]: ...
    @property
    def goals(self) -> _Floats: ...
    @property
    def reached(self) -> _Floats: ...
    @property
    def errors(self) -> _Floats: ...
    @property
    def at_limit(self) -> list[str]: ...
    @property
    def kkt(self) -> float | None: ...
    @property
    def iterations(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    def positions(self) -> _Floats: ...

@final
class Inverter:
    def __new__(
        cls,
        rig: Rig,
        *,
        ridge: float | None = None,
        sparsity: float | None = None,
        roughness: float | None = None,
        tolerance: float | None = None,
        align: bool = False,
    ) -> Inverter: ...
    def invert(self, clip: Clip, *, progress: _Progress = None) -> Inverse: ...

@final
class SketchCamera:
    def __new__(
        cls,
        eye: ArrayLike,
        target: ArrayLike,
        *,
        up: ArrayLike | None = None,
        fov_y_degrees: float = 30.0,
        size: tuple[int, int] = ...,
    ) -> SketchCamera: ...
    def project(self, point: ArrayLike) -> tuple[float, float] | None: ...
    def ray(self, pixel: tuple[float, float]) -> tuple[list[float], list[float]]: ...
    def pin(self, vertex: int, displacement: tuple[float, float]) -> Pin: ...

@final
class SketchedPose:
    def __new__(
        cls,
        rig: Rig,
        weights: _Weights | None = None,
        *,
        symmetric: bool = False,
        hold_earlier: bool = True,
        prior: PosePrior | None = None,
    ) -> SketchedPose: ...
    def draw(
        self,
        stroke: ArrayLike,
        camera: SketchCamera | Mapping[str, Any],
        *,
        feature: Literal["auto", "any", "brow", "lid", "lip", "jaw", "cheek", "nose"] = "auto",
        ends: Literal["auto", "against", "with"] = "auto",
        depth: Literal["free", "plane"] = "free",
        place: Literal["vertex", "surface"] = "vertex",
        middle_scale: float = ...,
        side_scale: float = ...,
        frame: Literal["curve", "world"] = "curve",
    ) -> _Drawn: ...
    @property
    def weights(self) -> _Floats: ...
    @property
    def positions(self) -> _Floats: ...
    def finish(self) -> tuple[Pose, _Integers]: ...

@final
class PosePrior:
    def __new__(cls, weights: ArrayLike, names: Sequence[str]) -> PosePrior: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def mean(self) -> _Floats: ...
    def energy(self, weights: ArrayLike) -> float: ...
    def fits(self, rig: Rig) -> bool: ...

@final
class ResidualLayer:
    def __new__(
        cls,
        mesh: Mesh,
        pins: ArrayLike,
        *,
        radius: float | None = None,
        bending_length: float = ...,
        iterations: int = ...,
    ) -> ResidualLayer: ...
    @property
    def vertices(self) -> _Integers: ...
    def solve(self, residuals: ArrayLike) -> Residual: ...

@final
class Residual:
    @property
    def vertices(self) -> _Integers: ...
    @property
    def displacements(self) -> _Floats: ...
    @property
    def converged(self) -> bool: ...
    def apply(self, positions: ArrayLike, strength: float = 1.0) -> _Floats: ...
    def promote(self, rig: Rig, name: str, *, weight: float = 1.0) -> Rig: ...

@final
class Performance:
    def __new__(cls, channels: Mapping[str, ArrayLike], *, frames_per_second: float, name: str = "") -> Performance: ...
    @property
    def name(self) -> str: ...
    @staticmethod
    def load(
        path: _Path, *, frames_per_second: float | None = None, timecode_rate: float | None = None
    ) -> Performance: ...
    @property
    def channels(self) -> list[str]: ...
    @property
    def values(self) -> _Floats: ...
    @property
    def rotations(self) -> dict[str, _Floats]: ...
    @property
    def times_secs(self) -> _Floats: ...
    @property
    def frames_per_second(self) -> float: ...
    @property
    def timecode(self) -> str | None: ...
    @property
    def notes(self) -> list[str]: ...
    def cleaned(
        self,
        *,
        smoothing: float = 1.0,
        spikes: bool = True,
        holds: bool = True,
        contacts: bool = True,
        longest_gap_secs: float = ...,
    ) -> Performance: ...
    def resampled(self, frames_per_second: float) -> Performance: ...
    def calibrated(self, take: Performance, rest: ArrayLike, extremes: Mapping[str, int]) -> Performance: ...
    def guess_map(self, sliders: Sequence[str]) -> dict[str, Any]: ...
    def weights(
        self,
        rig: Rig,
        *,
        map: Mapping[str, Any] | None = None,
        sides: _Sides = "own",
    ) -> _Floats: ...
    def retargeted(
        self, source: Rig, rig: Rig, *, markers: ArrayLike | None = None, progress: _Progress = None
    ) -> Performance: ...
    def __len__(self) -> int: ...

@final
class LiveSession:
    def __new__(cls, rig: Rig, *, map: Mapping[str, Any] | None = None, sides: _Sides = "own") -> LiveSession: ...
    def receive(self, packet: bytes, arrival_secs: float) -> tuple[float, _Floats] | None: ...
    @property
    def channels(self) -> dict[str, float]: ...
    @property
    def unmapped(self) -> list[str]: ...
    @property
    def counts(self) -> _PacketCounts: ...

@final
class MarkerTrack:
    def __new__(
        cls, names: Sequence[str], frames: ArrayLike, *, frames_per_second: float | None = None
    ) -> MarkerTrack: ...
    @staticmethod
    def load(path: _Path) -> MarkerTrack: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def frames(self) -> _Floats: ...
    @property
    def frames_per_second(self) -> float | None: ...
    def performance(
        self,
        rig: Rig,
        vertices: Mapping[str, int],
        *,
        rest_frame: int | None = None,
        roughness: float | None = None,
    ) -> Performance: ...
    def control_points(
        self,
        model: Model,
        *,
        markers: Sequence[str | None] | None = None,
        scale: float = 1.0,
        max_gap: int = ...,
        align: Literal["none", "rigid", "scaled"] = "none",
        rest_frame: int | None = None,
        frames_per_second: float | None = None,
    ) -> _Floats: ...
    def __len__(self) -> int: ...

@final
class Played:
    @property
    def asset(self) -> Asset: ...
    @property
    def weights(self) -> _Floats: ...
    @property
    def times_secs(self) -> _Floats: ...

@final
class Inverse:
    @property
    def weights(self) -> _Floats: ...
    @property
    def rms(self) -> _Floats: ...
    @property
    def converged(self) -> bool: ...
    @property
    def kkt(self) -> float: ...
    def report(self) -> dict[str, Any]: ...

@final
class Obstacle:
    @staticmethod
    def sphere(center: ArrayLike, radius: float) -> Obstacle: ...
    @staticmethod
    def capsule(start: ArrayLike, end: ArrayLike, radius: float) -> Obstacle: ...
    @staticmethod
    def cylinder(start: ArrayLike, end: ArrayLike, radius: float) -> Obstacle: ...
    @staticmethod
    def cuboid(center: ArrayLike, sides: ArrayLike) -> Obstacle: ...
    @staticmethod
    def mesh(mesh: Mesh) -> Obstacle: ...
    def moving(self, motions: Sequence[ArrayLike]) -> Obstacle: ...
    def contacts(self, positions: ArrayLike, *, margin: float = 0.0) -> tuple[_Integers, _Floats, _Floats]: ...

@final
class Blend:
    def __new__(
        cls,
        shapes: Sequence[Mesh],
        *,
        solver: Literal["fast", "tight", "newton"] = "fast",
        energy: str = "springs",
        interior: _Amount = ...,
        cage: _Amount = ...,
        anchor: ArrayLike | None = None,
        fixed: ArrayLike | None = None,
        pulls: Mapping[int, ArrayLike] | None = None,
        stiffness: ArrayLike | None = None,
        obstacles: Sequence[Obstacle] = ...,
        friction: float = 0.0,
        self_contact: bool = False,
        contact: Literal["active-set", "ma2012"] = "active-set",
        progress: _Progress = None,
    ) -> Blend: ...
    @property
    def warnings(self) -> list[str]: ...
    def at(self, weights: ArrayLike, *, time: float = 0.0) -> BlendFrame: ...
    def clip(
        self,
        weights: ArrayLike | None = None,
        *,
        steps: int = 36,
        name: str = "blend",
        frames_per_second: float | None = None,
        progress: _Progress = None,
    ) -> Clip: ...

@final
class RigBlend:
    def __new__(
        cls,
        rig: Rig,
        *,
        poses: ArrayLike | None = None,
        solver: Literal["fast", "tight", "newton"] = "fast",
        energy: str = "springs",
        interior: _Amount = ...,
        cage: _Amount = ...,
        obstacles: Sequence[Obstacle] = ...,
        friction: float = 0.0,
        self_contact: bool = False,
        contact: Literal["active-set", "ma2012"] = "active-set",
    ) -> RigBlend: ...
    @property
    def warnings(self) -> list[str]: ...
    def at(self, weights: _Weights, *, time: float = 0.0) -> BlendFrame: ...

@final
class BlendFrame:
    @property
    def positions(self) -> _Floats: ...
    @property
    def interior(self) -> _Floats: ...
    @property
    def converged(self) -> bool: ...
    @property
    def residual(self) -> float: ...
    @property
    def iterations(self) -> int: ...
    @property
    def area(self) -> float: ...
    @property
    def volume(self) -> float: ...
    @property
    def strain(self) -> float: ...
    @property
    def inverted(self) -> int: ...
    @property
    def contacts(self) -> int: ...
    @property
    def self_contacts(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...

@final
class Touch:
    def __new__(
        cls,
        mesh: Mesh,
        patches: Sequence[tuple[int, float]],
        *,
        colliders: Sequence[Obstacle] = ...,
        friction: float = 0.3,
        method: Literal["xpbd", "verlet"] = "xpbd",
        material: Mapping[str, float] | None = None,
        substeps: int | None = None,
        gravity: ArrayLike | None = None,
        inertia: float = 0.0,
        pins: ArrayLike | None = None,
        skin_contact: bool = False,
    ) -> Touch: ...
    @property
    def vertices(self) -> _Integers: ...
    @property
    def softness(self) -> _Floats: ...
    @property
    def positions(self) -> _Floats: ...
    def step(
        self,
        secs: float,
        *,
        shape: ArrayLike | None = None,
        colliders: Sequence[ArrayLike] | None = None,
        pulls: Mapping[int, ArrayLike] | None = None,
    ) -> _TouchReport: ...

@final
class Correspondence:
    def __new__(
        cls,
        source: Mesh,
        target: Mesh,
        *,
        markers: ArrayLike | None = None,
        method: _Method = "auto",
        progress: _Progress = None,
    ) -> Correspondence: ...
    @property
    def method(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def source_on_target(self) -> _Floats: ...
    @property
    def distances(self) -> _Floats: ...
    @property
    def triangle_map(self) -> list[list[tuple[int, float]]]: ...
    def carry(self, values: ArrayLike, *, missing: float = 0.0) -> _Floats: ...

@final
class Model:
    @staticmethod
    def train(
        clip: Clip,
        control: int | ArrayLike,
        *,
        method: _LearnMethod = "auto",
        neighbors: int | None = None,
        pose_neighbors: int | None = None,
        beta: float | None = None,
        bones: int | None = None,
        exact: bool = False,
        progress: _Progress = None,
    ) -> Model: ...
    @staticmethod
    def validate(
        clip: Clip,
        control: int | ArrayLike,
        *,
        method: _LearnMethod = "auto",
        neighbors: int | None = None,
        pose_neighbors: int | None = None,
        beta: float | None = None,
        bones: int | None = None,
        exact: bool = False,
        progress: _Progress = None,
    ) -> _Floats: ...
    @staticmethod
    def compare(
        clip: Clip,
        control: int | ArrayLike,
        methods: Sequence[_LearnMethod],
        *,
        neighbors: int | None = None,
        pose_neighbors: int | None = None,
        beta: float | None = None,
        bones: int | None = None,
        progress: _Progress = None,
    ) -> _Comparison: ...
    @staticmethod
    def train_detailed(
        clip: Clip,
        control: int | ArrayLike,
        *,
        smoothing: int = ...,
        detail: Literal["auto", "direct", "cascaded", "static"] = "auto",
        method: _LearnMethod = "auto",
        neighbors: int | None = None,
        pose_neighbors: int | None = None,
        beta: float | None = None,
        bones: int | None = None,
        progress: _Progress = None,
    ) -> Model: ...
    @staticmethod
    def load(path: _Path) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: _Path) -> None: ...
    def to_bytes(self) -> bytes: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    @property
    def reference(self) -> Mesh: ...
    @property
    def control_vertices(self) -> _Integers: ...
    @property
    def fit_error(self) -> float: ...
    @property
    def detailed_reference(self) -> Mesh | None: ...
    def drive(self, control: ArrayLike, *, exact: bool = False, detailed: bool = False) -> _Floats: ...
    def drive_clip(
        self,
        control: ArrayLike,
        *,
        hold: Literal["hard"] | float | None = None,
        exact: bool = False,
        jiggle: tuple[float, float] | None = None,
        frames_per_second: float | None = None,
        progress: _Progress = None,
    ) -> Clip: ...
    def confidence(self, control: ArrayLike) -> _Floats | None: ...

@final
class IkSolver:
    def __new__(cls, model: Model, skeleton: Mapping[str, Any]) -> IkSolver: ...
    @property
    def effectors(self) -> list[str]: ...
    def solve(self, goals: ArrayLike) -> _Floats: ...
    def solve_all(self, goals: ArrayLike) -> _Floats: ...

@final
class Bones:
    def __new__(
        cls,
        clip: Clip,
        *,
        bones: int = ...,
        influences: int = ...,
        kind: Literal["rigid", "affine"] = "rigid",
        smoothness: float = 0.0,
        rounds: int = ...,
        progress: _Progress = None,
    ) -> Bones: ...
    @property
    def rms(self) -> float: ...
    @property
    def rounds(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def weights(self) -> _Floats: ...
    @property
    def transforms(self) -> _Floats: ...
    def reconstruction(self) -> _Floats: ...
    def correctives(self, clip: Clip, count: int) -> tuple[NDArray[np.float32], _Floats, float]: ...
    def to_asset(self, clip: Clip) -> Asset: ...
    def skeleton(self) -> dict[str, Any]: ...
