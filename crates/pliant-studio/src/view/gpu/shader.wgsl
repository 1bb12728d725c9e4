// The look of a viewport: surfaces in the light of `pliant render`, lines, a grid on the ground, a backdrop.
//
// Positions and normals are lit in camera coordinates (x right, y up, z towards the camera). All colours are linear light. Lamps, sky,
// materials and shadows are those of the crate `pliant-view` (`shading/lighting.rs`, `pbr_lighting.rs`, `key_light.rs`), where the sources
// of the equations are named; a test compares the pictures.

struct Frame {
    clip_from_ground: mat4x4<f32>,
    // To the space of the key light: two axes across and one towards it, in radii of the scene.
    light_from_view: mat4x4<f32>,
    light_from_ground: mat4x4<f32>,
    // The world's up in camera coordinates; w is 1 with perspective.
    up: vec4<f32>,
    // Directions to the lamps in camera coordinates. key.w is 1 for a picture at rest, 0 while it moves; fill.w is 1 where shadows are
    // known; rim.w is what a radius of the scene is in the unit of the world.
    key: vec4<f32>,
    fill: vec4<f32>,
    rim: vec4<f32>,
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
    // To the key light's map of heights.
    light_from_model: mat4x4<f32>,
    color: vec4<f32>,
    // Paint (0 plain, 1 colours, 2 heat), opacity, 1 for flat, 1 for a mirrored placement.
    params: vec4<f32>,
    // Lower end, one over the width, row of the colour table; 1 where openness is known.
    heat: vec4<f32>,
};

struct Material {
    base_color: vec4<f32>,
    // w is the factor of the slopes of the normal map.
    emissive: vec4<f32>,
    // Metalness, roughness, kind (0 clay, 1 physical, 2 without light), least opacity that is seen (negative: all is).
    params: vec4<f32>,
    // 1 where backs are seen, 1 where opacity counts, 1 with a normal map, 1 with any texture.
    flags: vec4<f32>,
};

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var heat_table: texture_2d<f32>;
@group(0) @binding(2) var linear_sampler: sampler;
@group(0) @binding(3) var fine_heights: texture_2d<f32>;
@group(0) @binding(4) var broad_heights: texture_2d<f32>;
@group(1) @binding(0) var<uniform> model: Model;
@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var material_sampler: sampler;
@group(2) @binding(2) var base_color_map: texture_2d<f32>;
@group(2) @binding(3) var metallic_roughness_map: texture_2d<f32>;
@group(2) @binding(4) var normal_map: texture_2d<f32>;
@group(2) @binding(5) var occlusion_map: texture_2d<f32>;
@group(2) @binding(6) var emissive_map: texture_2d<f32>;
@group(2) @binding(7) var opacity_map: texture_2d<f32>;

const PLAIN: f32 = 0.0;
const COLORS: f32 = 1.0;
const NO_VALUE: vec3<f32> = vec3<f32>(0.3, 0.3, 0.3);

// `shading/lighting.rs`.
const KEY: vec3<f32> = vec3<f32>(1.06, 1.0, 0.925);
const FILL: vec3<f32> = vec3<f32>(0.11, 0.13, 0.165);
const SKY_ABOVE: vec3<f32> = vec3<f32>(0.36, 0.385, 0.42);
const SKY_BELOW: vec3<f32> = vec3<f32>(0.19, 0.172, 0.165);
const BOUNCE: vec3<f32> = vec3<f32>(0.16, 0.10, 0.07);
const HIGHLIGHT: f32 = 0.12;
const RIM: f32 = 0.7;
// `shading/pbr_lighting.rs`.
const EXPOSURE: f32 = 0.8;
const LEAST_ROUGHNESS: f32 = 0.12;
const STUDIO_ABOVE: vec3<f32> = vec3<f32>(0.66, 0.70, 0.75);
const STUDIO_BELOW: vec3<f32> = vec3<f32>(0.20, 0.185, 0.175);
const KEY_BOX: f32 = 1.5;
const RIM_BOX: f32 = 0.9;
// `shading/key_light.rs`: the lamp's width over its distance; sides of the maps in texels; radii of the blurs in radii of the scene.
const LAMP_SIZE: f32 = 0.2;
const REACH: f32 = 1.02;
const FINE_SIDE: f32 = 400.0;
const BROAD_SIDE: f32 = 84.0;
const FINE_BLUR: f32 = 0.014;
const BROAD_BLUR: f32 = 0.075;
const TAPS: i32 = 12;
// Openness of the back of faces, of which only the front is known.
const BACK_OPENNESS: f32 = 0.55;

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

// A surface point, as the light meets it.
struct Point {
    normal: vec3<f32>,
    towards_eye: vec3<f32>,
    // Ambient openness, and the part of the key light that is seen; 0 to 1.
    open: f32,
    lit: f32,
};

fn fourth(x: f32) -> f32 {
    return x * x * x * x;
}

// The share of a disc around a point of the light's space that is hidden, and the mean height of what hides it. Taps lie on a spiral
// that covers equal areas.
fn hidden(heights: texture_2d<f32>, at: vec3<f32>, side: f32, blur: f32, ramp: f32, taps: i32) -> vec2<f32> {
    let scale = (side - 2.0) / (side * 2.0 * REACH);
    let middle = at.xy * scale + 0.5;
    var turn = vec2<f32>(1.0, 0.0);
    var share = 0.0;
    var above = 0.0;
    for (var k = 0; k < taps; k = k + 1) {
        let radius = sqrt(1.0 - (f32(k) + 0.5) / f32(taps)) * blur * scale;
        let height = textureSampleLevel(heights, linear_sampler, middle + turn * radius, 0.0).x - at.z;
        let own = clamp(height / ramp, 0.0, 1.0);
        share = share + own;
        above = above + own * height;
        // The golden angle.
        turn = vec2<f32>(-0.7373689 * turn.x - 0.6754903 * turn.y, 0.6754903 * turn.x - 0.7373689 * turn.y);
    }
    return vec2<f32>(share / f32(taps), above / max(share, 1e-6));
}

// The part of the key light that is seen: sharp shadows at contacts, soft ones far from what casts them. It is computed at vertices and
// interpolated: flat triangles of a round surface would otherwise shade themselves where light grazes them.
fn key_light(place: vec3<f32>, normal: vec3<f32>) -> f32 {
    if dot(normal, frame.key.xyz) <= 0.0 {
        return 0.0;
    }
    if frame.fill.w < 0.5 {
        return 1.0;
    }
    let fine_texel = 2.0 * REACH / (FINE_SIDE - 2.0);
    let fine_place = (frame.light_from_view * vec4<f32>(place + normal * (2.5 * fine_texel * frame.rim.w), 1.0)).xyz;
    if frame.key.w < 0.5 {
        return 1.0 - hidden(fine_heights, fine_place, FINE_SIDE, 2.0 * FINE_BLUR, 3.0 * fine_texel, 4).x;
    }
    let broad_texel = 2.0 * REACH / (BROAD_SIDE - 2.0);
    let broad_place = (frame.light_from_view * vec4<f32>(place + normal * (1.5 * broad_texel * frame.rim.w), 1.0)).xyz;
    let broad = hidden(broad_heights, broad_place, BROAD_SIDE, BROAD_BLUR, 1.5 * broad_texel, TAPS);
    if broad.x <= 0.0 {
        return 1.0;
    }
    let fine = hidden(fine_heights, fine_place, FINE_SIDE, FINE_BLUR, 3.0 * fine_texel, TAPS).x;
    return 1.0 - mix(fine, broad.x, clamp(broad.y * LAMP_SIZE / BROAD_BLUR, 0.0, 1.0));
}

// Sky, reflections between surfaces, key and fill on a matte colour.
fn diffuse(albedo: vec3<f32>, point: Point) -> vec3<f32> {
    let above = 0.5 + 0.5 * dot(point.normal, frame.up.xyz);
    let sky = mix(SKY_BELOW, SKY_ABOVE, above);
    let light = sky * point.open + albedo * BOUNCE * (1.0 - point.open)
        + KEY * (max(dot(point.normal, frame.key.xyz), 0.0) * point.lit)
        + FILL * (max(dot(point.normal, frame.fill.xyz), 0.0) * point.open);
    return albedo * light;
}

fn shade_clay(albedo: vec3<f32>, point: Point) -> vec3<f32> {
    let half_way = normalize(frame.key.xyz + point.towards_eye);
    let gloss = pow(max(dot(point.normal, half_way), 0.0), 32.0) * HIGHLIGHT * point.lit;
    let outline = fourth(1.0 - clamp(dot(point.normal, point.towards_eye), 0.0, 1.0));
    let rim = outline * RIM * max(dot(point.normal, frame.rim.xyz), 0.0) * point.open;
    return diffuse(albedo, point) + vec3<f32>(gloss + rim);
}

// What a lamp in some direction gives by reflection on microfacets.
fn reflected(lamp: vec3<f32>, roughness: f32, point: Point) -> f32 {
    let to_lamp = max(dot(point.normal, lamp), 0.0);
    let to_eye = max(dot(point.normal, point.towards_eye), 1e-3);
    let half_way = normalize(lamp + point.towards_eye);
    let facing = max(dot(point.normal, half_way), 0.0);
    let a = roughness * roughness;
    let a2 = a * a;
    let spread = facing * facing * (a2 - 1.0) + 1.0;
    let density = a2 / max(spread * spread, 1e-6);
    let masked = to_lamp * sqrt(to_eye * to_eye * (1.0 - a2) + a2) + to_eye * sqrt(to_lamp * to_lamp * (1.0 - a2) + a2);
    return min(density * 0.5 / max(masked, 1e-4) * to_lamp, 40.0);
}

fn soft_box(towards: vec3<f32>, lamp: vec3<f32>, roughness: f32) -> f32 {
    let facing = max(dot(towards, lamp), 0.0);
    return mix(fourth(facing * facing), 0.45 * facing * facing, roughness);
}

fn shade_physical(base: vec3<f32>, metalness: f32, rough: f32, emissive: vec3<f32>, point: Point) -> vec3<f32> {
    let metallic = clamp(metalness, 0.0, 1.0);
    let roughness = clamp(rough, LEAST_ROUGHNESS, 1.0);
    let mirror = mix(vec3<f32>(0.04), base, metallic);
    let to_eye = clamp(dot(point.normal, point.towards_eye), 0.0, 1.0);
    let grazing = 1.0 - to_eye;

    let lamps = KEY * (reflected(frame.key.xyz, roughness, point) * point.lit)
        + FILL * (reflected(frame.fill.xyz, roughness, point) * point.open);
    let half_way = normalize(frame.key.xyz + point.towards_eye);
    let away = 1.0 - clamp(dot(point.towards_eye, half_way), 0.0, 1.0);
    let fresnel = mirror + (1.0 - mirror) * (fourth(away) * away);

    let towards = point.normal * (2.0 * dot(point.normal, point.towards_eye)) - point.towards_eye;
    let horizon = clamp(0.5 + 0.5 * dot(towards, frame.up.xyz) / (0.15 + 0.85 * roughness), 0.0, 1.0);
    let room = mix(STUDIO_BELOW, STUDIO_ABOVE, horizon * horizon * (3.0 - 2.0 * horizon));
    let boxes = KEY * (KEY_BOX * soft_box(towards, frame.key.xyz, roughness))
        + vec3<f32>(RIM_BOX * soft_box(towards, frame.rim.xyz, roughness));

    let smoothness = 1.0 - roughness;
    let a = min(smoothness * smoothness, fourth(grazing) * grazing * grazing) * smoothness + 0.0425 - 0.0275 * roughness;
    let scale = -1.04 * a + 1.04 - 0.572 * roughness;
    let bias = 1.04 * a + 0.022 * roughness - 0.04;
    let response = max(mirror * scale + vec3<f32>(bias), vec3<f32>(0.0));

    let rim = fourth(grazing) * 0.25 * RIM * max(dot(point.normal, frame.rim.xyz), 0.0) * point.open;
    let matte = diffuse(base * (1.0 - metallic), point);
    return (matte + lamps * fresnel + (room + boxes) * point.open * response + vec3<f32>(rim)) * EXPOSURE + emissive;
}

// The same on the outer and on the inner side.
fn key_light_on_sides(place: vec3<f32>, normal: vec3<f32>) -> vec2<f32> {
    let outer = normal / max(length(normal), 1e-12);
    return vec2<f32>(key_light(place, outer), key_light(place, -outer));
}

struct SurfaceVertex {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    // Within the triangle, also where it covers a pixel's border only.
    @location(1) @interpolate(perspective, centroid) normal: vec3<f32>,
    // A colour over the surface's own; w is how much it covers.
    @location(2) @interpolate(perspective, centroid) tint: vec4<f32>,
    // A value and whether there is one; openness.
    @location(3) @interpolate(perspective, centroid) heat: vec3<f32>,
    // The part of the key light that is seen from outside and inside.
    @location(4) @interpolate(perspective, centroid) lit: vec2<f32>,
};

fn unpacked_tint(packed: u32) -> vec4<f32> {
    let color = unpack4x8unorm(packed);
    return vec4<f32>(linear_from_srgb(color.rgb), color.a);
}

fn known_openness(openness: f32) -> f32 {
    return select(1.0, openness, model.heat.w > 0.5);
}

@vertex
fn surface_vertex(
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) paint: vec2<u32>,
    @location(3) openness: f32,
) -> SurfaceVertex {
    var out: SurfaceVertex;
    out.clip = model.clip_from_model * vec4<f32>(position, 1.0);
    out.place = (model.view_from_model * vec4<f32>(position, 1.0)).xyz;
    out.normal = (model.normal_from_model * vec4<f32>(normal, 0.0)).xyz;
    out.lit = key_light_on_sides(out.place, out.normal);
    out.tint = vec4<f32>(0.0);
    out.heat = vec3<f32>(0.0, 0.0, known_openness(openness));
    if model.params.x == COLORS {
        out.tint = unpacked_tint(paint.x);
    } else if model.params.x != PLAIN {
        out.heat = vec3<f32>(bitcast<f32>(paint.x), bitcast<f32>(paint.y), out.heat.z);
    }
    return out;
}

fn albedo(in: SurfaceVertex) -> vec3<f32> {
    let share = clamp((in.heat.x / max(in.heat.y, 1e-6) - model.heat.x) * model.heat.y, 0.0, 1.0);
    let place = vec2<f32>((share * 255.0 + 0.5) / 256.0, model.heat.z);
    let mapped = textureSampleLevel(heat_table, linear_sampler, place, 0.0).rgb;
    let plain = mix(model.color.rgb, in.tint.rgb, in.tint.a);
    return select(plain, mix(NO_VALUE, mapped, in.heat.y), model.params.x > COLORS);
}

// The normal as the camera meets it: of the triangle where shading is flat or the vertices have none.
fn facing_normal(place: vec3<f32>, normal: vec3<f32>, outside: bool, towards_eye: vec3<f32>) -> vec3<f32> {
    var flat = normalize(cross(dpdx(place), dpdy(place)));
    flat = select(flat, -flat, dot(flat, towards_eye) < 0.0);
    let smooth_normal = select(-normal, normal, outside);
    let size = length(smooth_normal);
    if model.params.z > 0.5 || size < 1e-6 {
        return flat;
    }
    return smooth_normal / size;
}

fn direction_to_eye(place: vec3<f32>) -> vec3<f32> {
    return select(vec3<f32>(0.0, 0.0, 1.0), normalize(-place), frame.up.w > 0.5);
}

fn point_at(place: vec3<f32>, normal: vec3<f32>, openness: f32, lit: vec2<f32>, outside: bool) -> Point {
    var point: Point;
    point.normal = normal;
    point.towards_eye = direction_to_eye(place);
    point.open = select(min(openness, BACK_OPENNESS), openness, outside);
    point.lit = clamp(select(lit.y, lit.x, outside), 0.0, 1.0);
    return point;
}

@fragment
fn surface_fragment(in: SurfaceVertex, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let outside = front != (model.params.w > 0.5);
    let normal = facing_normal(in.place, in.normal, outside, direction_to_eye(in.place));
    let point = point_at(in.place, normal, in.heat.z, in.lit, outside);
    var base = albedo(in);
    base = select(mix(base, frame.back.rgb, frame.back.w), base, outside);
    if model.params.x <= COLORS {
        return vec4<f32>(tone(shade_clay(base, point)), model.params.y);
    }

    // Colours that stand for values keep their lightness more than clay does.
    let above = 0.5 + 0.5 * dot(normal, frame.up.xyz);
    let key = mix(max(dot(normal, frame.key.xyz), 0.0), 0.5 + 0.5 * dot(normal, frame.key.xyz), 0.22);
    let light = mix(SKY_BELOW, SKY_ABOVE, above) + 0.8 * KEY * key + FILL * max(dot(normal, frame.fill.xyz), 0.0);
    return vec4<f32>(tone(base * mix(vec3<f32>(0.92), light, 0.45)), model.params.y);
}

struct MaterialVertex {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) @interpolate(perspective, centroid) normal: vec3<f32>,
    @location(2) @interpolate(perspective, centroid) uv: vec2<f32>,
    @location(3) @interpolate(perspective, centroid) tone: vec4<f32>,
    @location(4) @interpolate(perspective, centroid) tint: vec4<f32>,
    @location(5) @interpolate(perspective, centroid) openness: f32,
    @location(6) @interpolate(perspective, centroid) lit: vec2<f32>,
};

@vertex
fn material_vertex(
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) paint: vec2<u32>,
    @location(3) openness: f32,
    @location(4) uv: vec2<f32>,
    @location(5) tone: vec4<f32>,
) -> MaterialVertex {
    var out: MaterialVertex;
    out.clip = model.clip_from_model * vec4<f32>(position, 1.0);
    out.place = (model.view_from_model * vec4<f32>(position, 1.0)).xyz;
    out.normal = (model.normal_from_model * vec4<f32>(normal, 0.0)).xyz;
    out.lit = key_light_on_sides(out.place, out.normal);
    out.uv = uv;
    out.tone = tone;
    out.tint = vec4<f32>(0.0);
    if model.params.x == COLORS {
        out.tint = unpacked_tint(paint.x);
    }
    out.openness = known_openness(openness);
    return out;
}

// The normal after the normal map, in the tangents of the triangle.
fn mapped_normal(in: MaterialVertex, smooth_normal: vec3<f32>, outside: bool) -> vec3<f32> {
    let texel = textureSample(normal_map, material_sampler, in.uv).xyz * 2.0 - 1.0;
    let across = dpdx(in.place);
    let down = dpdy(in.place);
    let uv_across = dpdx(in.uv);
    let uv_down = dpdy(in.uv);
    let area = uv_across.x * uv_down.y - uv_across.y * uv_down.x;
    if material.flags.z < 0.5 || abs(area) < 1e-20 || model.params.z > 0.5 {
        return smooth_normal;
    }
    // The map belongs to the outer side; rows of images go down, its green goes up.
    let outer = select(-smooth_normal, smooth_normal, outside);
    let side = sign(area);
    let along_u = (across * uv_down.y - down * uv_across.y) * side;
    let along_v = (across * uv_down.x - down * uv_across.x) * side;
    let tangent = normalize(along_u - outer * dot(outer, along_u));
    let level = cross(outer, tangent);
    let bitangent = select(level, -level, dot(level, along_v) < 0.0);
    let slopes = texel.xy * material.emissive.w;
    let bent = normalize(tangent * slopes.x + bitangent * slopes.y + outer * texel.z);
    return select(-bent, bent, outside);
}

@fragment
fn material_fragment(in: MaterialVertex, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let outside = front != (model.params.w > 0.5);
    var base = material.base_color * in.tone;
    var shine = vec4<f32>(1.0);
    var occlusion = 1.0;
    var emissive = material.emissive.rgb;
    let smooth_normal = facing_normal(in.place, in.normal, outside, direction_to_eye(in.place));
    var normal = smooth_normal;
    if material.flags.w > 0.5 {
        base = base * textureSample(base_color_map, material_sampler, in.uv);
        base.a = base.a * textureSample(opacity_map, material_sampler, in.uv).r;
        shine = textureSample(metallic_roughness_map, material_sampler, in.uv);
        occlusion = textureSample(occlusion_map, material_sampler, in.uv).r;
        emissive = emissive * textureSample(emissive_map, material_sampler, in.uv).rgb;
        normal = mapped_normal(in, smooth_normal, outside);
    }

    // The edge of a mask is as soft as a pixel, by the samples that it covers.
    let cutoff = material.params.w;
    let edge = clamp((base.a - cutoff) / max(fwidth(base.a), 1e-4) + 0.5, 0.0, 1.0);
    var opacity = select(1.0, base.a, material.flags.y > 0.5);
    opacity = select(opacity, edge, cutoff >= 0.0) * model.params.y;
    if (!outside && material.flags.x < 0.5) || opacity <= 0.0 {
        discard;
    }

    var point = point_at(in.place, normal, in.openness, in.lit, outside);
    point.open = point.open * occlusion;
    let color = mix(base.rgb, in.tint.rgb, in.tint.a);
    let own = select(mix(color, frame.back.rgb, frame.back.w), color, outside);
    var light = own + emissive;
    if material.params.z < 0.5 {
        light = tone(shade_clay(own, point));
    } else if material.params.z < 1.5 {
        light = tone(shade_physical(own, material.params.x * shine.b, material.params.y * shine.g, emissive, point));
    }
    return vec4<f32>(light, opacity);
}

// Heights of a model towards the key light.
@fragment
fn height_fragment(@location(0) height: f32) -> @location(0) vec4<f32> {
    return vec4<f32>(height, 0.0, 0.0, 1.0);
}

struct HeightVertex {
    @builtin(position) clip: vec4<f32>,
    @location(0) height: f32,
};

// Higher places win by the reversed depth of all pictures.
fn height_vertex(position: vec3<f32>, side: f32) -> HeightVertex {
    let place = (model.light_from_model * vec4<f32>(position, 1.0)).xyz;
    let scale = (side - 2.0) / (side * REACH);
    var out: HeightVertex;
    out.clip = vec4<f32>(place.x * scale, -place.y * scale, 0.5 + 0.5 * place.z / (2.0 * REACH), 1.0);
    out.height = place.z;
    return out;
}

@vertex
fn fine_height_vertex(@location(0) position: vec3<f32>) -> HeightVertex {
    return height_vertex(position, FINE_SIDE);
}

@vertex
fn broad_height_vertex(@location(0) position: vec3<f32>) -> HeightVertex {
    return height_vertex(position, BROAD_SIDE);
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
    // In the space of the key light.
    @location(1) light: vec3<f32>,
};

@vertex
fn ground_vertex(@builtin(vertex_index) index: u32) -> GroundVertex {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    var out: GroundVertex;
    out.place = corner * frame.size.z;
    let place = vec4<f32>(out.place.x, 0.0, out.place.y, 1.0);
    out.clip = frame.clip_from_ground * place;
    out.light = (frame.light_from_ground * place).xyz;
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
    // Contact darkens the ground under the model; the key light casts a soft shadow beside it.
    let contact = frame.strengths.x * exp(-0.8 * dot(away, away));
    var shade = 0.0;
    if frame.fill.w > 0.5 && max(abs(in.light.x), abs(in.light.y)) < REACH {
        shade = 0.4 * frame.strengths.x * hidden(broad_heights, in.light, BROAD_SIDE, 2.0 * BROAD_BLUR, 0.05, TAPS).x;
    }
    let shadow = 1.0 - (1.0 - contact) * (1.0 - shade);
    // Lines over a black shadow.
    let both = 1.0 - (1.0 - cover) * (1.0 - shadow);
    return vec4<f32>(frame.grid.rgb * cover / max(both, 1e-6), both);
}

@group(0) @binding(0) var picture: texture_2d<f32>;

// The finished picture, pixel by pixel, for a screen that encodes light itself.
@fragment
fn blit_to_linear(in: ScreenVertex) -> @location(0) vec4<f32> {
    return vec4<f32>(textureLoad(picture, picture_pixel(in.place), 0).rgb, 1.0);
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
