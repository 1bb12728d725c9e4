// The look of a viewport: clay under three lamps that go with the camera, lines, a grid on the ground, a backdrop.
//
// Positions and normals are lit in camera coordinates (x right, y up, z towards the camera). All colours are linear light.

struct Frame {
    clip_from_ground: mat4x4<f32>,
    // The world's up in camera coordinates; w is 1 with perspective.
    up: vec4<f32>,
    backdrop_top: vec4<f32>,
    backdrop_bottom: vec4<f32>,
    line: vec4<f32>,
    // Colour of back faces; w is how much of it they take on.
    back: vec4<f32>,
    grid: vec4<f32>,
    // Width and height in pixels, grid reach in cells, pixels per point.
    size: vec4<f32>,
    // Middle and half extents of what stands on the ground, in cells.
    footprint: vec4<f32>,
    // Darkness of the shadow there; what one pixel across is in depth, with and without perspective.
    strengths: vec4<f32>,
};

struct Model {
    clip_from_model: mat4x4<f32>,
    view_from_model: mat4x4<f32>,
    // Inverse transpose of the turn, in its upper left.
    normal_from_model: mat4x4<f32>,
    color: vec4<f32>,
    // Paint (0 plain, 1 colours, 2 heat), opacity, 1 for flat, 1 for a mirrored placement.
    params: vec4<f32>,
    // Lower end, one over the width, row of the colour table.
    heat: vec4<f32>,
};

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var heat_table: texture_2d<f32>;
@group(0) @binding(2) var heat_sampler: sampler;
@group(1) @binding(0) var<uniform> model: Model;

const PLAIN: f32 = 0.0;
const COLORS: f32 = 1.0;
const NO_VALUE: vec3<f32> = vec3<f32>(0.3, 0.3, 0.3);

// Lamps: the key above the left shoulder, the fill at the right, the rim behind the model.
const KEY_TOWARDS: vec3<f32> = vec3<f32>(-0.429, 0.741, 0.515);
const FILL_TOWARDS: vec3<f32> = vec3<f32>(0.836, 0.098, 0.541);
const RIM_TOWARDS: vec3<f32> = vec3<f32>(0.462, 0.555, -0.693);
const KEY: vec3<f32> = vec3<f32>(0.86, 0.82, 0.77);
const FILL: vec3<f32> = vec3<f32>(0.13, 0.15, 0.185);
const SKY_ABOVE: vec3<f32> = vec3<f32>(0.32, 0.34, 0.375);
const SKY_BELOW: vec3<f32> = vec3<f32>(0.15, 0.135, 0.13);

fn linear_from_srgb(color: vec3<f32>) -> vec3<f32> {
    let high = pow((color + 0.055) / 1.055, vec3<f32>(2.4));
    return select(high, color / 12.92, color <= vec3<f32>(0.04045));
}

fn srgb_from_linear(color: vec3<f32>) -> vec3<f32> {
    let high = 1.055 * pow(max(color, vec3<f32>(0.0)), vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(high, color * 12.92, color <= vec3<f32>(0.0031308));
}

// Noise of one pixel, so that gradients do not band.
fn dither(pixel: vec2<f32>) -> f32 {
    return fract(52.9829189 * fract(dot(pixel, vec2<f32>(0.06711056, 0.00583715)))) - 0.5;
}

// Straight up to a knee, then bent towards white; one factor for all channels keeps the hue.
fn tone(light: vec3<f32>) -> vec3<f32> {
    let knee = 0.62;
    let peak = max(light.x, max(light.y, light.z));
    let over = max(peak - knee, 0.0) / (1.0 - knee);
    let bent = knee + (1.0 - knee) * over / (1.0 + over);
    let scaled = light * (bent / max(peak, 1e-6));
    return select(mix(scaled, vec3<f32>(bent), over / (4.0 + over)), light, over <= 0.0);
}

struct SurfaceVertex {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    // Within the triangle, also where it covers a pixel's border only.
    @location(1) @interpolate(perspective, centroid) normal: vec3<f32>,
    @location(2) @interpolate(perspective, centroid) color: vec3<f32>,
    // A value and whether there is one.
    @location(3) @interpolate(perspective, centroid) heat: vec2<f32>,
};

@vertex
fn surface_vertex(
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) paint: vec2<u32>,
) -> SurfaceVertex {
    var out: SurfaceVertex;
    out.clip = model.clip_from_model * vec4<f32>(position, 1.0);
    out.place = (model.view_from_model * vec4<f32>(position, 1.0)).xyz;
    out.normal = (model.normal_from_model * vec4<f32>(normal, 0.0)).xyz;
    out.color = model.color.rgb;
    out.heat = vec2<f32>(0.0, 0.0);
    if model.params.x == COLORS {
        out.color = linear_from_srgb(unpack4x8unorm(paint.x).rgb);
    } else if model.params.x != PLAIN {
        out.heat = vec2<f32>(bitcast<f32>(paint.x), bitcast<f32>(paint.y));
    }
    return out;
}

fn albedo(in: SurfaceVertex) -> vec3<f32> {
    let share = clamp((in.heat.x / max(in.heat.y, 1e-6) - model.heat.x) * model.heat.y, 0.0, 1.0);
    let place = vec2<f32>((share * 255.0 + 0.5) / 256.0, model.heat.z);
    let mapped = textureSampleLevel(heat_table, heat_sampler, place, 0.0).rgb;
    return select(in.color, mix(NO_VALUE, mapped, in.heat.y), model.params.x > COLORS);
}

// The normal as the camera meets it: of the triangle where shading is flat or the vertices have none.
fn facing_normal(in: SurfaceVertex, outside: bool, towards_eye: vec3<f32>) -> vec3<f32> {
    var flat = normalize(cross(dpdx(in.place), dpdy(in.place)));
    flat = select(flat, -flat, dot(flat, towards_eye) < 0.0);
    let smooth_normal = select(-in.normal, in.normal, outside);
    let size = length(smooth_normal);
    if model.params.z > 0.5 || size < 1e-6 {
        return flat;
    }
    return smooth_normal / size;
}

@fragment
fn surface_fragment(in: SurfaceVertex, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let towards_eye = select(vec3<f32>(0.0, 0.0, 1.0), normalize(-in.place), frame.up.w > 0.5);
    let outside = front != (model.params.w > 0.5);
    let normal = facing_normal(in, outside, towards_eye);
    let values = model.params.x > COLORS;
    var base = albedo(in);
    base = select(mix(base, frame.back.rgb, frame.back.w), base, outside);

    let above = 0.5 + 0.5 * dot(normal, frame.up.xyz);
    let key = max(dot(normal, KEY_TOWARDS), 0.0);
    // A lamp with some width: light reaches a little around the edge.
    let soft_key = mix(key, 0.5 + 0.5 * dot(normal, KEY_TOWARDS), 0.22);
    let fill = max(dot(normal, FILL_TOWARDS), 0.0);
    let facing = clamp(dot(normal, towards_eye), 0.0, 1.0);
    var light = mix(SKY_BELOW, SKY_ABOVE, above) + KEY * soft_key + FILL * fill;
    // Grooves turn away from the camera: a little less light there models the form.
    light *= 0.86 + 0.14 * smoothstep(0.0, 0.55, facing);
    let half_way = normalize(KEY_TOWARDS + towards_eye);
    let gloss = pow(max(dot(normal, half_way), 0.0), 36.0) * 0.055;
    let rim = pow(1.0 - facing, 4.0) * max(dot(normal, RIM_TOWARDS), 0.0) * 0.5;
    // Colours that stand for values keep their lightness more than clay does.
    light = select(light, mix(vec3<f32>(0.92), light, 0.45), values);
    let shine = select(gloss + rim, 0.25 * (gloss + rim), values);
    return vec4<f32>(tone(base * light + shine), model.params.y);
}

// Lines lie on the surface; each is drawn nearer to the camera by what the surface falls away within a pixel, so that it is whole.
@vertex
fn line_vertex(@location(0) position: vec3<f32>, @location(1) normal: vec3<f32>) -> @builtin(position) vec4<f32> {
    var clip = model.clip_from_model * vec4<f32>(position, 1.0);
    let place = (model.view_from_model * vec4<f32>(position, 1.0)).xyz;
    let turned = (model.normal_from_model * vec4<f32>(normal, 0.0)).xyz;
    let perspective = frame.up.w > 0.5;
    let towards_eye = select(vec3<f32>(0.0, 0.0, 1.0), normalize(-place), perspective);
    let facing = clamp(abs(dot(turned, towards_eye)) / max(length(turned), 1e-12), 0.12, 1.0);
    let pixels = 0.6 + 1.2 * sqrt(1.0 - facing * facing) / facing;
    clip.z = select(clip.z + pixels * frame.strengths.z, clip.z / (1.0 - pixels * frame.strengths.y), perspective);
    return clip;
}

@fragment
fn line_fragment() -> @location(0) vec4<f32> {
    return vec4<f32>(frame.line.rgb, frame.line.a * model.params.y);
}

struct ScreenVertex {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec2<f32>,
};

// One triangle over the whole picture; `place` is 0 to 1 from the upper left.
@vertex
fn screen_vertex(@builtin(vertex_index) index: u32) -> ScreenVertex {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    var out: ScreenVertex;
    out.clip = vec4<f32>(corner.x * 2.0 - 1.0, 1.0 - corner.y * 2.0, 0.0, 1.0);
    out.place = corner;
    return out;
}

@fragment
fn backdrop_fragment(in: ScreenVertex) -> @location(0) vec4<f32> {
    let from_middle = (in.place - vec2<f32>(0.5, 0.42)) * vec2<f32>(frame.size.x / frame.size.y, 1.0);
    let glow = exp(-2.2 * dot(from_middle, from_middle));
    // Even steps of what the eye sees, not of light.
    let top = sqrt(frame.backdrop_top.rgb);
    let bottom = sqrt(frame.backdrop_bottom.rgb);
    let seen = mix(mix(top, bottom, smoothstep(0.0, 1.0, in.place.y)), top, 0.55 * glow);
    let steps = dither(in.clip.xy) / 255.0;
    return vec4<f32>(linear_from_srgb(srgb_from_linear(seen * seen) + steps), 1.0);
}

struct GroundVertex {
    @builtin(position) clip: vec4<f32>,
    // In cells of the grid.
    @location(0) place: vec2<f32>,
};

@vertex
fn ground_vertex(@builtin(vertex_index) index: u32) -> GroundVertex {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    var out: GroundVertex;
    out.place = corner * frame.size.z;
    out.clip = frame.clip_from_ground * vec4<f32>(out.place.x, 0.0, out.place.y, 1.0);
    return out;
}

// How much of a pixel lines at whole numbers cover; lines that are closer than pixels fade to their mean.
fn line_cover(place: vec2<f32>, pixel: vec2<f32>, width: f32) -> f32 {
    let away = abs(fract(place + 0.5) - 0.5) / pixel;
    let near = 1.0 - smoothstep(vec2<f32>(0.5 * width - 0.5), vec2<f32>(0.5 * width + 0.5), away);
    let crowded = smoothstep(vec2<f32>(0.12), vec2<f32>(0.5), pixel);
    let cover = mix(near, vec2<f32>(0.0), crowded);
    return max(cover.x, cover.y);
}

@fragment
fn ground_fragment(in: GroundVertex) -> @location(0) vec4<f32> {
    let pixel = max(fwidth(in.place), vec2<f32>(1e-6));
    let width = frame.size.w;
    let fine = line_cover(in.place, pixel, width);
    let coarse = line_cover(in.place / 5.0, pixel / 5.0, width);
    let fade = 1.0 - smoothstep(0.15, 1.0, length(in.place) / frame.size.z);
    let cover = frame.grid.a * max(0.45 * fine, coarse) * fade * fade;
    let away = (in.place - frame.footprint.xy) / frame.footprint.zw;
    let shadow = frame.strengths.x * exp(-0.8 * dot(away, away));
    // Lines over a black shadow.
    let both = 1.0 - (1.0 - cover) * (1.0 - shadow);
    return vec4<f32>(frame.grid.rgb * cover / max(both, 1e-6), both);
}

@group(0) @binding(0) var picture: texture_2d<f32>;

// The finished picture, pixel by pixel, for a screen that encodes light itself.
@fragment
fn blit_to_linear(in: ScreenVertex) -> @location(0) vec4<f32> {
    return textureLoad(picture, picture_pixel(in.place), 0);
}

// The same for a screen that takes encoded bytes.
@fragment
fn blit_to_gamma(in: ScreenVertex) -> @location(0) vec4<f32> {
    return vec4<f32>(srgb_from_linear(textureLoad(picture, picture_pixel(in.place), 0).rgb), 1.0);
}

fn picture_pixel(place: vec2<f32>) -> vec2<i32> {
    let size = vec2<i32>(textureDimensions(picture));
    return clamp(vec2<i32>(place * vec2<f32>(size)), vec2<i32>(0), size - 1);
}
