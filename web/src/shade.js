// Shaders: one light for everything, grains as balls with depth, meshes, ground.

export const SKY = [0.81, 0.85, 0.88]; // as the screen shows it
export const CHUNK = 256;
export const CHUNK_TEXTURE = 256; // chunks in a row of their texture

export const SUN = [-0.52, -0.38, 0.77]; // direction to it: from the left of the first view, so that shadows are seen

const LIGHTS = `
const vec3 SKY_UNDER = vec3(0.34, 0.31, 0.29), SKY_ABOVE = vec3(0.52, 0.58, 0.66), SUN_COLOUR = vec3(1.25, 1.15, 1.0);
`;

const LIGHT = LIGHTS + `
uniform vec3 sun;            // direction to it, world
uniform mat4 shadowMatrix;   // world to shadow map, 0..1
uniform highp sampler2D shadowMap;
uniform float shadowStrength;
uniform vec4 cut;            // plane: normal and offset; w > 1e9: none
float lit(vec3 world, vec3 normal) {
#ifdef FAST
  return 1.0;
#endif
  if (shadowStrength <= 0.0) return 1.0;
  vec4 at = shadowMatrix * vec4(world + normal * shadowBias, 1.0);
  vec2 size = vec2(textureSize(shadowMap, 0));
  vec2 place = at.xy * size - 0.5, f = fract(place);
  if (any(lessThan(place, vec2(0.0))) || any(greaterThanEqual(place, size - 1.0)) || at.z >= 1.0) return 1.0; // beside the map
  ivec2 p = ivec2(floor(place));
  float a = step(at.z, texelFetch(shadowMap, p, 0).r), b = step(at.z, texelFetch(shadowMap, p + ivec2(1, 0), 0).r);
  float c = step(at.z, texelFetch(shadowMap, p + ivec2(0, 1), 0).r), d = step(at.z, texelFetch(shadowMap, p + ivec2(1, 1), 0).r);
  return mix(1.0, mix(mix(a, b, f.x), mix(c, d, f.x), f.y), shadowStrength);
}
vec3 shade(vec3 colour, vec3 world, vec3 normal) {
  float direct = max(dot(normal, sun), 0.0);
  if (direct > 0.0) direct *= lit(world, normal);
  vec3 sky = mix(SKY_UNDER, SKY_ABOVE, 0.5 + 0.5 * normal.z);
  vec3 linear = colour * (sky + direct * SUN_COLOUR);
#ifdef FAST
  return sqrt(linear / (1.0 + 0.25 * linear));
#else
  return pow(linear / (1.0 + 0.25 * linear), vec3(1.0 / 2.2));
#endif
}
`;

// Cividis-like: dark blue over grey to yellow, readable for the colour blind.
export const MAP = `
vec3 map(float t) {
  t = clamp(t, 0.0, 1.0);
  const vec3 c[6] = vec3[6](vec3(0.05, 0.03, 0.53), vec3(0.35, 0.02, 0.64), vec3(0.65, 0.14, 0.56), vec3(0.88, 0.37, 0.36),
                            vec3(0.99, 0.65, 0.21), vec3(0.94, 0.98, 0.13));
  float x = t * 5.0;
  int i = min(int(x), 4);
  return pow(mix(c[i], c[i + 1], x - float(i)), vec3(2.2));
}
`;
export const MAP_COLOURS = ["#0d0887", "#5a05a3", "#a6248f", "#e05e5c", "#fca636", "#f0f921"];

const PLACE = `
precision highp float;
precision highp int;
in uint word;
in float value;
uniform highp sampler2D chunks;
uniform float tile;
uniform float radius;
uniform vec4 cut;
uniform int hidden; // bit of a material that is not drawn
vec3 world;
uint material;
bool place() {
  int chunk = gl_VertexID / ${CHUNK};
  int slot = gl_VertexID - chunk * ${CHUNK};
  vec4 c = texelFetch(chunks, ivec2(chunk % ${CHUNK_TEXTURE}, chunk / ${CHUNK_TEXTURE}), 0);
  if (float(slot) >= c.w) return false;
  world = c.xyz + tile * (vec3(uvec3(word, word >> 10, word >> 20) & 1023u) + 0.5) / 1024.0;
  material = word >> 30;
  return (hidden >> int(material) & 1) == 0 && dot(world, cut.xyz) <= cut.w;
}
`;

export const grainVertex = PLACE + LIGHTS + `
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform float height;       // of the picture, pixels
uniform vec3 colours[4];    // of the materials, linear
uniform float wetness;      // 1: the value is wetness and darkens
uniform float mapped;       // 1: colours show the value
#ifdef FAST
flat out vec3 under, above, sunny; // as the screen shows it: lit from below and above, and what the sun adds
vec3 shown(vec3 linear) {
  return sqrt(linear / (1.0 + 0.25 * linear));
}
#else
out vec3 colour;
out vec3 center;            // view space
flat out float glossy;
#endif
${MAP}
void main() {
  gl_PointSize = 0.0;
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  if (!place()) return;
  vec4 view = viewMatrix * vec4(world, 1.0);
  gl_Position = projectionMatrix * view;
  gl_PointSize = max(height * projectionMatrix[1][1] * radius / gl_Position.w, 1.5);
  vec3 own = colours[material];
  own *= mix(1.0, mix(1.0, 0.42, value), wetness);
  if (mapped > 0.5) own = map(value);
#ifdef FAST
  under = shown(own * SKY_UNDER);
  above = shown(own * SKY_ABOVE);
  sunny = shown(own * (SKY_ABOVE + SUN_COLOUR)) - above;
#else
  center = view.xyz;
  colour = own;
  glossy = wetness * value;
#endif
}
`;

// FAST: for the processor. The colours of a grain are made once in its vertex and mixed by the normal.
export const grainFragment = `
precision highp float;
precision highp int;
#ifdef FAST
flat in vec3 under, above, sunny;
uniform vec3 sunInView, upInView;
#else
in vec3 colour;
in vec3 center;
flat in float glossy;
uniform mat4 projectionMatrix;
uniform mat4 viewToWorld;
uniform float radius;
uniform float shadowBias;
${LIGHT}
#endif
out vec4 outColour;
void main() {
  vec2 q = gl_PointCoord * 2.0 - 1.0;
  float r = dot(q, q);
  if (r > 1.0) discard;
  vec3 n = vec3(q.x, -q.y, sqrt(1.0 - r));
#ifdef FAST
  outColour = vec4(mix(under, above, 0.5 + 0.5 * dot(n, upInView)) + max(dot(n, sunInView), 0.0) * sunny, 1.0);
#else
  vec3 at = center + n * radius;
  vec4 clip = projectionMatrix * vec4(at, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
  vec3 normal = mat3(viewToWorld) * n;
  outColour = vec4(shade(colour, (viewToWorld * vec4(center, 1.0)).xyz, normal), 1.0);
  outColour.rgb += 0.25 * glossy * pow(max(n.z, 0.0), 24.0);
#endif
}
`;

// The depth from the sun.
export const depthVertex = PLACE + `
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform float height;
void main() {
  gl_PointSize = 0.0;
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  if (!place()) return;
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
  gl_PointSize = max(height * projectionMatrix[1][1] * radius / gl_Position.w, 1.0);
}
`;
export const depthFragment = `
precision highp float;
out vec4 outColour;
void main() {
  vec2 q = gl_PointCoord * 2.0 - 1.0;
  if (dot(q, q) > 1.0) discard;
  outColour = vec4(1.0);
}
`;

export const meshVertex = `
precision highp float;
in vec3 position;
in vec4 coded;             // packed surface: place 0..1 and its normal
uniform vec3 low;
uniform vec3 size;
uniform float isPacked;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
out vec3 world;
out vec3 normal;
#ifdef FAST
uniform vec3 colour;
uniform vec3 sun;
flat out vec3 groundColour; // with its light, as the screen shows it
${LIGHTS}
#endif
void main() {
#ifdef FAST
  groundColour = colour * (SKY_ABOVE + sun.z * SUN_COLOUR);
  groundColour = sqrt(groundColour / (1.0 + 0.25 * groundColour));
#endif
  world = low + mix(position, coded.xyz * size, isPacked);
  float bits = floor(coded.w * 65535.0 + 0.5);
  vec2 oct = vec2(mod(bits, 256.0), floor(bits / 256.0)) / 127.5 - 1.0;
  normal = vec3(oct, 1.0 - abs(oct.x) - abs(oct.y));
  if (normal.z < 0.0) normal.xy = (1.0 - abs(normal.yx)) * vec2(normal.x < 0.0 ? -1.0 : 1.0, normal.y < 0.0 ? -1.0 : 1.0);
  gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
}
`;
export const meshFragment = `
precision highp float;
in vec3 world;
in vec3 normal;
#ifdef FAST
flat in vec3 groundColour;
#endif
uniform vec3 colour;
uniform vec3 eye;
uniform float isPacked;
uniform float isWater;
uniform float opacity;
uniform float checker;      // edge of the squares of the ground; 0: plain
uniform float haze;         // distance at which the ground is lost in the sky
uniform float shadowBias;
out vec4 outColour;
${LIGHT}
void main() {
#ifdef FAST
  if (checker > 0.0) { // most of the picture: its light is the same everywhere
    float far = dot(world.xy, world.xy) / (haze * haze);
    vec2 c = floor(world.xy / checker);
    float contrast = 0.08 * clamp(1.0 - 16.0 * far, 0.0, 1.0);
    vec3 own = groundColour * (1.0 - 0.5 * contrast + contrast * mod(c.x + c.y, 2.0));
    outColour = vec4(mix(own, vec3(${SKY.join(", ")}), smoothstep(0.0225, 1.0, far)), 1.0);
    return;
  }
#endif
  if (dot(world, cut.xyz) > cut.w && checker == 0.0) discard;
  vec3 n = isPacked > 0.5 ? normalize(normal) : normalize(cross(dFdx(world), dFdy(world)));
  if (checker > 0.0) n = vec3(0.0, 0.0, 1.0);
  vec3 look = normalize(eye - world);
  if (dot(n, look) < 0.0) n = -n;
  vec3 own = colour;
  if (checker > 0.0) {
    vec2 c = world.xy / checker, wide = fwidth(c);
    float contrast = 0.08 * clamp(1.5 - 3.0 * max(wide.x, wide.y), 0.0, 1.0); // squares smaller than pixels have none
    own *= 1.0 - contrast + 2.0 * contrast * mod(floor(c.x) + floor(c.y), 2.0);
  }
  vec3 result = shade(own, world, n);
  if (checker > 0.0) result = mix(result, vec3(${SKY.join(", ")}), smoothstep(0.15, 1.0, length(world.xy) / haze));
  float alpha = opacity;
  if (isWater > 0.5) {
    float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(n, look), 0.0), 5.0);
    vec3 sky = mix(vec3(0.75, 0.8, 0.85), vec3(0.45, 0.62, 0.82), clamp(reflect(-look, n).z, 0.0, 1.0));
    float glint = pow(max(dot(reflect(-look, n), sun), 0.0), 120.0);
    result = mix(result, sky, fresnel) + glint;
    alpha = mix(opacity, 1.0, fresnel);
  }
  outColour = vec4(result, alpha);
}
`;
