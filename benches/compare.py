"""Runs our benches and their peers one after the other on this machine and prints one table.

    python benches/compare.py [NAME…]            NAME: heat cholesky exact subdivision pose transfer blend learn touch studio; all without one

Needs the peers of `benches/peers/README.md` in this Python, and PLIANT_DATA for `exact`, `pose`, `learn`, `studio` and the horse of
`transfer` and `blend`; `exact` uses the Python named by GDIST_PYTHON for gdist, which wants an older numpy, and `studio` that named by
BPY_PYTHON for Blender, which wants an older Python. Close other programs first: the load is printed
with the table.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benches" / "peers"


def run(command):
    print("$", " ".join(map(str, command)), file=sys.stderr, flush=True)
    done = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def ours(crate, bench, *more):
    """Milliseconds of a criterion bench by name: the median and its interval."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    shutil.rmtree(target / "criterion", ignore_errors=True)  # Results of earlier runs and other inputs.
    run(["cargo", "bench", "-q", "-p", crate, "--bench", bench, "--", *more])
    found = {}
    for path in sorted((target / "criterion").glob("**/new/estimates.json")):
        name = json.loads((path.parent / "benchmark.json").read_text())["full_id"]
        median = json.loads(path.read_text())["median"]
        spread = median["confidence_interval"]
        found[name] = tuple(1e-6 * ns for ns in (median["point_estimate"], spread["lower_bound"], spread["upper_bound"]))
    return found


def lines(text):
    """`NAME … 12.34 ms` lines as a map."""
    return {m[1].strip(): float(m[2]) for m in re.finditer(r"^(\S+(?: \S+)*?)\s+([\d.]+) ms", text, re.M)}


TABLE = []


def row(work, our, peer_name, peer, goal):
    value, spread = (our[0], f" ({our[1]:.3g}–{our[2]:.3g})") if isinstance(our, tuple) else (our, "")
    TABLE.append(f"| {work} | {value:.4g} ms{spread} | {peer_name} {peer:.4g} ms | {value / peer:.2f} | {goal} |")


def heat():
    peers = lines(run([sys.executable, PEERS / "heat_geodesic_peers.py"]))
    mine = ours("pliant-mesh", "heat_geodesic")
    for size, goal in (("10k", "0.70"), ("200k", "0.30")):
        for label in ("plain", "robust"):
            row(f"heat, factor, {size}", mine[f"heat_geodesic/factor/{size}"], f"potpourri3d {label}", peers[f"potpourri3d_{label}_factor/{size}"], goal)
            row(f"heat, one source, {size}", mine[f"heat_geodesic/solve/{size}"], f"potpourri3d {label}", peers[f"potpourri3d_{label}_solve/{size}"], "0.80")


def cholesky():
    with tempfile.TemporaryDirectory() as folder:
        mine = lines(run(["cargo", "bench", "-q", "-p", "pliant-linalg", "--bench", "cholesky", "--", "--write", folder]))
        peers = lines(run([sys.executable, PEERS / "cholesky_peers.py", folder]))
    for matrix, goal in (("laplacian_200k", "0.50"), ("springs_53k", "0.70")):
        for peer in ("cholmod_metis", "pardiso"):
            for ours_name, peer_work, wanted in (("order_and_analyse", "order_and_analyse", "–"), ("refactor", "refactor", goal), ("solve", "solve", "1.20")):
                key = f"{peer}_{peer_work}/{matrix}"
                if key in peers:
                    row(f"Cholesky, {peer_work}, {matrix}", mine[f"{ours_name}/{matrix}"], peer, peers[key], wanted)


def exact():
    text = run([sys.executable, PEERS / "exact_geodesic_peers.py"])
    if "GDIST_PYTHON" in os.environ:
        text += run([os.environ["GDIST_PYTHON"], PEERS / "exact_geodesic_peers.py"])
    peers = {f"{m[1]} {m[2]} {m[3]}": float(m[4]) for m in re.finditer(r"^(\w+)\s+(\S+)\s+(\w+)\s+([\d.]+) ms", text, re.M)}
    mine = ours("pliant-mesh", "exact_geodesic")
    mine = {re.sub(r"^exact_disc/", "", k): v for k, v in mine.items() if k.startswith("exact")}
    for name, value in peers.items():
        peer, mesh, kind = name.split()
        wanted = [k for k in mine if mesh.split("-")[0] in k and (k.endswith("new-and-query") and "topology" not in k if kind == "all" else "query" in k and "new" not in k)]
        if wanted:
            row(f"exact, {mesh}, {'from arrays' if kind == 'all' else 'prepared'}", mine[wanted[0]], peer, value, "0.10" if "3cm" in mesh else "–")


def subdivision():
    text = run([sys.executable, PEERS / "subdivision_peers.py"])
    median = float(re.search(r"median ([\d.]+) ms", text)[1])
    mine = ours("pliant-mesh", "subdivision")
    row("Loop, one pose, 49k to 197k", mine["subdivision/stencils/49k"], "scipy CSR", median, "0.33")


def pose():
    with tempfile.TemporaryDirectory() as folder:
        calls = lines(run(["cargo", "bench", "-q", "-p", "pliant-rig", "--bench", "pose", "--", "--write", folder]))
        peers = lines(run([sys.executable, PEERS / "pose_peers.py", folder]))
    peers = {name.split("/")[0]: value for name, value in peers.items()}
    mine = ours("pliant-rig", "pose")
    for start in ("fresh", "cold", "warm"):
        for peer in ("daqp", "quadprog", "proxqp"):
            # A peer's own clock leaves out the calls through Python.
            for key in (f"{peer}_{start}", f"{peer}_{start}_inner"):
                if key in peers:
                    row(f"drag, programme {start}", mine[f"pose/programme/57x5-ict/{start}"], key.replace("_", " "), peers[key], "0.33")
                if key in peers and f"solve_{start}" in calls:
                    row(f"drag, single call {start}", calls[f"solve_{start}"], key.replace("_", " "), peers[key], "0.33")


def medians(text):
    """`NAME … 12.34 ms (1.2 to 3.4)` lines as a map to the median, the least and the greatest."""
    pattern = r"^(\S+)\s+([\d.]+) ms(?:\s+\(([\d.]+) to ([\d.]+)\))?"
    return {m[1]: tuple(float(value or m[2]) for value in (m[2], m[3], m[4])) for m in re.finditer(pattern, text, re.M)}


def transfer():
    with tempfile.TemporaryDirectory() as folder:
        mine = medians(run(["cargo", "bench", "-q", "-p", "pliant-transfer", "--bench", "peers", "--", folder]))
        text = run([sys.executable, PEERS / "transfer_peers.py", folder])
    peers = medians(text)
    works = {"factor": "cholmod_factor", "solve": "cholmod_solve", "nearest": "ckdtree_nearest", "frame": "numpy_frame"}
    for work, peer in works.items():
        size = next(name.split("/")[1] for name in mine if name.startswith(f"{work}/"))
        row(f"transfer, {work}, {size} triangles", mine[f"{work}/{size}"], peer.split("_")[0], peers[f"{peer}/{size}"][0], "–")
    for name in (name for name in peers if name.startswith("nricp/")):
        case = name.split("/")[1]
        row(f"transfer, match {case}", mine[f"ours/{case}"], "nricp", peers[name][0], "–")
    print("\n".join(re.findall(r"^(?:error|nearest|frame).*:.*$", text, re.M)), file=sys.stderr)


# Table I of Ma et al. 2012: seconds of a step on the CPU, and our goals for `fast` in milliseconds.
TABLE_I = {"2.2k": (2.23, 10), "8.1k": (40.11, 50), "7.3k": (67.58, 50), "8.5k": (81.36, 60), "18.6k": (153.99, 160)}


def blend():
    with tempfile.TemporaryDirectory() as folder:
        mine = medians(run(["cargo", "bench", "-q", "-p", "pliant-physics", "--bench", "peers", "--", folder]))
        text = run([sys.executable, PEERS / "blend_peers.py", folder])
    for size, (secs, goal) in TABLE_I.items():
        row(f"blend, a step, fast, {size}", mine[f"fast/{size}"], "paper, CPU", 1e3 * secs, f"{goal} ms")
        row(f"blend, a step, tight, {size}", mine[f"tight/{size}"], "paper, CPU", 1e3 * secs, f"{1e3 * secs / 50:.0f} ms")
    peers = medians(text)
    for name in (name for name in peers if name.startswith("newton_cholmod/")):
        size = name.split("/")[1]
        row(f"blend, Newton at 1e-3, {size}", peers[f"ours_same_steps/{size}"], "scipy, CHOLMOD", peers[name][0], "0.10")
    for solver, goal in (("fast", 200), ("tight", 600)):
        told = run(["cargo", "bench", "-q", "-p", "pliant-physics", "--bench", "peers", "--", "memory", solver])
        if peak := re.search(r"memory_\w+/(\S+)\s+([\d.]+) MB", told):
            TABLE.append(f"| blend, memory, {solver}, {peak[1]} | {peak[2]} MB | – | – | {goal} MB |")
    print("\n".join(re.findall(r"^(?:agreement/|.*did not converge).*$", text, re.M)), file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        mine = medians(run(["cargo", "bench", "-q", "-p", "pliant-linalg", "--bench", "cholesky", "--", "--only", "springs", "--write", folder]))
        (Path(folder) / "springs_53k_by_place.csr").unlink()  # The same matrix: no peer asks for places.
        peers = lines(run([sys.executable, PEERS / "cholesky_peers.py", folder]))
    for peer, goal in (("cholmod_metis", "0.70"), ("pardiso", "0.60")):
        for variant in ("springs_53k", "springs_53k_by_place"):
            if f"{peer}_refactor/springs_53k" in peers:
                row(f"Hessian, factor, {variant}", mine[f"refactor/{variant}"], peer, peers[f"{peer}_refactor/springs_53k"], goal)


def learn():
    mine = run(["cargo", "bench", "-q", "-p", "pliant-learn", "--bench", "bones"])
    peers = run([sys.executable, PEERS / "bones_peers.py"])
    pattern = r"^(\S+)\s+([\d.]+) ms.*?(\d+) bones   rms / diagonal ([\d.]+)"
    peers = {m[1]: m for m in re.finditer(pattern, peers, re.M)}
    for m in re.finditer(pattern, mine, re.M):
        peer = peers[m[1]]
        row(f"20 bones, {m[1]} (rms {m[4]} to {peer[4]}; {peer[3]} bones there)", float(m[2]), "py-dem-bones", float(peer[2]), "0.20")
    frame, raised = ours("pliant-learn", "frame"), ours("pliant-learn", "detail", "raise/direct")
    one_thread = {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.environ.update(one_thread)
    detail = ours("pliant-learn", "detail", "synthesis|training")
    told = run([sys.executable, PEERS / "detail_peers.py"])
    peers = {m[1]: float(m[2]) for m in re.finditer(r"^detail/(.+): median ([\d.]+) ms", told, re.M)}
    for name in one_thread:
        del os.environ[name]
    synthesis, batched = detail["detail/synthesis/direct/197k"], peers["training, batched numpy, 24 settings"]
    row("details, synthesis, 197k x 14, one thread", synthesis, "numpy f32", peers["synthesis, numpy, examples x vertices"], "0.25 ms")
    row("details, training, 197k x 14, one thread", detail["detail/training/direct/197k"], "numpy", batched, "500 ms")
    row("details, training nearby, 197k x 14, one thread", detail["detail/training/auto/197k"], "numpy", batched, "500 ms")
    row("1,355 bone models, training", frame["train/bones_known"], "paper", 180e3, "3000 ms")
    row("whole frame, 49k to 197k vertices", frame["frame/soft"][0] + synthesis[0] + raised["detail/raise/direct/197k"][0], "paper", 4000, "30 ms")


# The thesis' table 5.1, seconds by range, and table 5.2, seconds for the whole model: its largest head.
TABLE_5_1 = {1: 0.0239, 3: 0.0299, 6: 0.0799, 9: 0.1589, 12: 0.241}
TABLE_5_2 = {1: 0.37, 3: 0.9, 6: 6.66, 9: 15.36, 12: 21.22, 100: 29.6}


def touch():
    mine = ours("pliant-physics", "touch")
    peers = medians(run([sys.executable, PEERS / "touch_peers.py", "pypbd", "rapier", "discs"]))
    for count in (3364, 441):
        for scene in ("stretch", "bend", "ball"):
            for threads in ("1", "all"):
                for peer in ("pypbd", "rapier"):
                    if found := peers.get(f"{peer}/{scene}/{count}"):
                        row(f"touch, a frame, {scene}, {count} vertices, threads: {threads}", mine[f"{scene}/{count}/{threads}"], peer, found[0], "0.33")
    for radius, secs in TABLE_5_1.items():
        for ours_by, peer in (("disc", "pygeodesic"), ("disc by heat", "potpourri3d_robust")):
            row(f"touch, a {ours_by} of {radius}", mine[f"{ours_by}/{radius}"], "thesis", 1e3 * secs, "5 ms")
            if found := peers.get(f"{peer}/disc/{radius}"):
                row(f"touch, a {ours_by} of {radius}", mine[f"{ours_by}/{radius}"], peer, found[0], "")
    for radius, secs in TABLE_5_2.items():
        for method in ("verlet", "xpbd"):
            name = f"touch, a step, {method}, " + ("whole model" if radius == 100 else f"range {radius}")
            row(name, mine[f"step {method}/{radius}"], "thesis", 1e3 * secs, "5 ms" if radius == 100 else "")


def studio():
    """A frame while a hand drags a pin. Blender has no solve: it only evaluates the keys and makes the normals."""
    text = run([sys.executable, PEERS / "studio_peers.py"])
    if "BPY_PYTHON" in os.environ:
        text += run([os.environ["BPY_PYTHON"], PEERS / "blender_evaluate_peers.py"])
    peers = lines(text)
    mine = ours("pliant-studio", "drag_frame")
    for key, name in (("numpy_frame_sparse_igl/ict", "scipy CSR, libigl"), ("numpy_frame_dense_igl/ict", "numpy, libigl"), ("numpy_frame_sparse_numpy/ict", "scipy CSR, numpy")):
        row("studio, drag frame, ICT", mine["drag/ict/frame"], name, peers[key], "8 ms")
    if "blender_whole/57_keys" in peers:
        row("studio, shapes and normals, ICT", mine["drag/ict/evaluate_and_normals"], "Blender", peers["blender_whole/57_keys"], "–")


def main():
    known = {f.__name__: f for f in (heat, cholesky, exact, subdivision, pose, transfer, blend, learn, touch, studio)}
    names = sys.argv[1:] or list(known)
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no comparison is named {', '.join(unknown)}; there are {', '.join(known)}")
    for name in names:
        known[name]()
    print("| work | ours, median | peer, median | ratio | goal |\n|---|---|---|---|---|")
    print("\n".join(TABLE))
    print(f"\n{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the end.")


if __name__ == "__main__":
    main()
