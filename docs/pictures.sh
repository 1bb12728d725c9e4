#!/usr/bin/env bash
# Makes the pictures of README.md again: the README's own commands, rendered by Pliant and put side by side by ImageMagick.
# Usage: docs/pictures.sh [PLIANT]   (default: target/release/pliant)
set -euo pipefail
docs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pliant=$(realpath "${1:-$docs/../target/release/pliant}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() { "$pliant" "$@" --quiet; }
# shot NAME ASSET [OPTIONS…]: one square picture
shot() { local name=$1 asset=$2; shift 2; run render "$asset" --size 400x400 "$@" --out "$name.png"; }
# pair NAME LEFT RIGHT: two pictures side by side
pair() { convert "$2.png" "$3.png" +append -strip "$docs/pictures/$1.png"; }
# A closer view of a face.
close() { convert "$1.png" -crop 240x240+80+110 +repage -resize 400x400 "$1.png"; }

run pose specimen:head --pin 4480:0.7,1.1,0 --hold 855 --out smirk.obj
shot before specimen:head --view front; shot after smirk.obj --view front
close before; close after; pair pose before after

run touch specimen:head --center 2134 --radius 4 --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 --out cheek.glb
shot before cheek.glb --frame 0; shot after cheek.glb --frame 30
close before; close after; pair touch before after

run convert specimen:bar straight.obj
run convert 'specimen:bar#bend@24' bent.obj
run blend straight.obj bent.obj --weights 0.5,0.5 --out half.obj
python3 - <<'PY'
# The linear blend: the mean of both shapes, vertex by vertex.
def vertices(path):
    return [[float(x) for x in line.split()[1:4]] for line in open(path) if line.startswith("v ")]

mean = ["v " + " ".join(repr((a + b) / 2) for a, b in zip(p, q)) for p, q in zip(vertices("straight.obj"), vertices("bent.obj"))]
rest = [line.rstrip("\n") for line in open("straight.obj") if not line.startswith("v ")]
open("linear.obj", "w").write("\n".join(mean + rest) + "\n")
PY
shot before linear.obj; shot after half.obj; pair blend before after

run transfer --source 'specimen:hound#walk' --target specimen:tapir --out walk.glb
shot before 'specimen:hound#walk' --frame 6; shot after walk.glb --frame 6; pair transfer before after

run convert specimen:head my-head.obj
run shapes --source specimen:head --target my-head.obj --out my-rig.glb
shot before my-head.obj --view front
shot after my-rig.glb --view front --weights jawOpen=0.6,browInnerUp=1,mouthSmileLeft=0.6,mouthSmileRight=0.6
close before; close after; pair shapes before after

printf 'examples = "specimen:hand"\ncontrol_points = 24\n' > hand.toml
run learn hand.toml --out hand.safetensors
run drive hand.safetensors --points specimen:hand:play --out driven.glb
shot before driven.glb --frame 0; shot after driven.glb --frame 20; pair learn before after

# The studio at work, frame by frame.
cargo run --quiet --manifest-path "$docs/../Cargo.toml" -p pliant-studio --example film -- "$work/film"
convert -delay 12 -loop 0 "$work"/film/*.png -resize 900x -colors 128 -layers optimize "$docs/studio.gif"
