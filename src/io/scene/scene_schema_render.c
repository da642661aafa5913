/* Keys for pictures of a run. */
#include <math.h>

#include "io/scene/scene_schema.h"
#include "world/scene.h"

#define AT(member) .offset = offsetof(WadiScene, render.member)
#define LOOK(member) .offset = offsetof(WadiMaterial, look.member)
#define COLOUR .unit = "sRGB", .minimum = 0, .maximum = 1
#define KEYED WADI_SCENE_KEYFRAMES
#define SAND_ONLY .kinds = 1u << WADI_MATERIAL_SAND
#define FROM_PRESET .fallback_text = "the preset's"

static const WadiSceneChoice presets[] = {
    { "beach", WADI_PRESET_BEACH, "pale quartz with a few dark grains" },
    { "desert", WADI_PRESET_DESERT, "fine and orange" },
    { "black", WADI_PRESET_BLACK, "volcanic, with bright flashes" },
    { "soil", WADI_PRESET_SOIL, "brown, of many sizes" },
    { "gravel", WADI_PRESET_GRAVEL, "grey stones of `grain_size`, or of 8 mm where that is below 2 mm" },
    { "sugar", WADI_PRESET_SUGAR, "white" },
};
WADI_SCENE_CHOICES(presets);

static const WadiSceneChoice styles[] = {
    { "auto", WADI_STYLE_AUTO, "grains for sand (with `dem` a stone each), the mesh for water" },
    { "grains", WADI_STYLE_GRAINS, "grains of the material's `grain_size`, which move with the particles" },
    { "texture", WADI_STYLE_TEXTURE, "the mesh with a texture that particles carry (scene key `texture`)" },
    { "surface", WADI_STYLE_SURFACE, "the mesh" },
    { "balls", WADI_STYLE_BALLS, "a ball a particle" },
    { "hidden", WADI_STYLE_HIDDEN, "nothing" },
};
WADI_SCENE_CHOICES(styles);

static const WadiSceneField look_fields[] = {
    { "preset", WADI_SCENE_ENUM, LOOK(preset), .choices = &presets_choices,
      .doc = "Colours of the grains of a sand, and how they sparkle." },
    { "style", WADI_SCENE_ENUM, LOOK(style), .choices = &styles_choices, .fallback = { WADI_STYLE_AUTO },
      .doc = "What is drawn for the particles." },
    { "colour", WADI_SCENE_VEC3, LOOK(colour), COLOUR, .fallback = { -1, -1, -1 }, FROM_PRESET,
      .doc = "One colour instead of the preset's mixture; for water, its colour at depth. Liquids above 1 Pa "
             "s are amber without it." },
    { "variation", WADI_SCENE_NUMBER, LOOK(variation), .minimum = 0, .maximum = 1, .fallback = { -1 },
      FROM_PRESET, .doc = "How much grains differ in brightness." },
    { "grains", WADI_SCENE_INT, LOOK(grains), .minimum = 1, .maximum = 64, .fallback = { -1 }, FROM_PRESET,
      .doc = "Grains drawn for a lone particle, and for each particle in a cut." },
    { "grain_fill", WADI_SCENE_NUMBER, LOOK(grain_fill), .minimum = 1e-3, .maximum = 2, .fallback = { -1 },
      FROM_PRESET, .doc = "Fraction of a particle's volume that its grains fill in a cut." },
    { "size_variation", WADI_SCENE_NUMBER, LOOK(size_variation), .minimum = 0, .maximum = 0.9,
      .fallback = { -1 }, FROM_PRESET, .doc = "How much grains in a cut, or stones, differ in size." },
    { "ball_size", WADI_SCENE_NUMBER, LOOK(ball_size), .minimum = 0.01, .maximum = 10, .fallback = { 1 },
      .doc = "Diameter of the balls of `style: balls` over the spacing of the particles." },
    { "clarity", WADI_SCENE_NUMBER, LOOK(clarity), .unit = "m", .minimum = 1e-6, .maximum = 1e6,
      .fallback = { -1 }, .fallback_text = "by the size of the scene, as a bath, a pool or a sea",
      .doc = "Distance over which water takes on its colour: larger is clearer." },
    { "cloudiness", WADI_SCENE_NUMBER, LOOK(cloudiness), .minimum = 0, .maximum = 1,
      .doc = "How much a liquid scatters light: 0 is clear, 0.1 murky, 1 as milk." },
    { "wetness", WADI_SCENE_NUMBER, LOOK(wetness), .minimum = 0, .maximum = 1,
      .doc = "Least wetness of sand in pictures, ground included: 0 dry, 1 soaked." },
};
const WadiSceneObject wadi_scene_look_object = {
    .name = "look",
    .doc = "How a material is drawn; the simulation does not depend on it.",
    WADI_SCENE_FIELDS(look_fields),
    .example = "{preset: desert, grains: 20}",
};

static const WadiSceneChoice textures[] = {
    { "none", WADI_TEXTURE_NONE, "one colour" },
    { "checker", WADI_TEXTURE_CHECKER, "cubes of two colours" },
    { "bands", WADI_TEXTURE_BANDS, "horizontal bands of two colours" },
    { "wood", WADI_TEXTURE_WOOD, "rings about the x axis" },
    { "stone", WADI_TEXTURE_STONE, "blotches" },
};
WADI_SCENE_CHOICES(textures);

#define SOLID(member) .offset = offsetof(WadiColliderDef, look.member)
static const WadiSceneField solid_look_fields[] = {
    { "colour", WADI_SCENE_VEC3, SOLID(colour), COLOUR, .fallback = { -1, -1, -1 },
      .fallback_text = "`render.collider_colour`", .doc = "Its colour." },
    { "roughness", WADI_SCENE_NUMBER, SOLID(roughness), .minimum = 0, .maximum = 1, .fallback = { 0.5 },
      .doc = "Of its surface: 0 is polished, 1 is matt." },
    { "pattern", WADI_SCENE_ENUM, SOLID(texture), .choices = &textures_choices,
      .doc = "A pattern of two colours, which moves with the collider." },
    { "pattern_size", WADI_SCENE_NUMBER, SOLID(texture_size), .unit = "m", .minimum = 0, .maximum = 1e6,
      .fallback_text = "a twelfth of its size", .doc = "Size of the pattern." },
    { "second_colour", WADI_SCENE_VEC3, SOLID(second_colour), COLOUR, .fallback = { -1, -1, -1 },
      .fallback_text = "`colour`, half as bright", .doc = "The other colour of the pattern." },
    { "glass", WADI_SCENE_BOOL, SOLID(is_glass), .doc = "A thin sheet of clear glass, tinted by `colour`." },
};
const WadiSceneObject wadi_scene_solid_look_object = {
    .name = "solid_look",
    .doc = "How a collider is drawn; the simulation does not depend on it.",
    WADI_SCENE_FIELDS(solid_look_fields),
    .example = "{colour: [0.9, 0.9, 0.88], pattern: bands, second_colour: [0.7, 0.1, 0.08]}",
};

static const WadiSceneField camera_fields[] = {
    { "from", WADI_SCENE_CURVE3, AT(camera.from), .flags = WADI_SCENE_REQUIRED | KEYED, .unit = "m",
      .minimum = -1e9, .maximum = 1e9, .doc = "Where it stands." },
    { "to", WADI_SCENE_CURVE3, AT(camera.to), .flags = WADI_SCENE_REQUIRED | KEYED, .unit = "m",
      .minimum = -1e9, .maximum = 1e9, .doc = "What is in the middle of the picture." },
    { "up", WADI_SCENE_CURVE3, AT(camera.up), .flags = KEYED | WADI_SCENE_NOT_ZERO, .minimum = -1e9,
      .maximum = 1e9, .fallback = { 0, 0, 1 }, .doc = "Direction that is up in the picture." },
    { "angle", WADI_SCENE_CURVE1, AT(camera.angle), .flags = KEYED | WADI_SCENE_BELOW_MAX, .unit = "degrees",
      .minimum = 0.01, .maximum = 180, .fallback = { 35 },
      .doc = "Angle of view between the lower and the upper edge." },
    { "aperture", WADI_SCENE_CURVE1, AT(camera.aperture), .flags = KEYED, .unit = "m", .minimum = 0,
      .maximum = 1e6, .doc = "Diameter of the lens: the larger, the shallower is what is sharp." },
    { "focus", WADI_SCENE_CURVE1, AT(camera.focus), .flags = KEYED, .unit = "m", .minimum = 0, .maximum = 1e9,
      .fallback_text = "the distance of `to`", .doc = "Distance that is sharp." },
};
const WadiSceneObject wadi_scene_camera_object = {
    .name = "camera",
    .doc = "Where the picture is taken from. Without it a position is chosen that shows the whole run.",
    WADI_SCENE_FIELDS(camera_fields),
    .example = "{from: {keys: [[0, [3, -3, 1]], [3, [4, -1, 1]]]}, to: [0, 0, 0.2]}",
};

static const WadiSceneChoice surrounds[] = {
    { "sky", WADI_RENDER_SKY, "a clear sky" },
    { "studio", WADI_RENDER_STUDIO, "even light from everywhere" },
};
WADI_SCENE_CHOICES(surrounds);

static const WadiSceneField light_fields[] = {
    { "sun_height", WADI_SCENE_NUMBER, AT(light.sun_height), .unit = "degrees", .minimum = -10, .maximum = 90,
      .fallback = { 40 }, .doc = "Of the sun above the horizon." },
    { "sun_direction", WADI_SCENE_NUMBER, AT(light.sun_direction), .unit = "degrees", .minimum = -360,
      .maximum = 360, .fallback = { -1000 }, .fallback_text = "to the left behind the camera",
      .doc = "Azimuth of the sun, from +x towards +y." },
    { "sun_size", WADI_SCENE_NUMBER, AT(light.sun_size), .unit = "degrees", .minimum = 0.01, .maximum = 90,
      .fallback = { 1.5 },
      .doc = "Diameter of the sun: larger makes softer shadows; in the sky it is 0.53." },
    { "sun", WADI_SCENE_NUMBER, AT(light.sun), .minimum = 0, .maximum = 1e6, .fallback = { 1 },
      .doc = "Factor on the light of the sun." },
    { "sky", WADI_SCENE_NUMBER, AT(light.sky), .minimum = 0, .maximum = 1e6, .fallback = { 1 },
      .doc = "Factor on the light from all around." },
    { "haze", WADI_SCENE_NUMBER, AT(light.haze), .minimum = 2, .maximum = 10, .fallback = { 2.1 },
      .doc = "Turbidity of the sky: 2 is very clear, 6 is hazy." },
    { "clouds", WADI_SCENE_NUMBER, AT(light.clouds), .minimum = 0, .maximum = 1, .fallback = { 0.3 },
      .doc = "Part of the sky that clouds cover; they do not hide the sun." },
    { "surround", WADI_SCENE_ENUM, AT(light.surround), .choices = &surrounds_choices,
      .doc = "Where light comes from besides the sun." },
    { "environment", WADI_SCENE_FILE, AT(light.environment), .fallback_text = "none",
      .doc = "A picture of all directions, .hdr or .pfm, instead of `surround`." },
    { "turn", WADI_SCENE_NUMBER, AT(light.turn), .unit = "degrees", .minimum = -360, .maximum = 360,
      .doc = "Turns that picture about the vertical." },
};
const WadiSceneObject wadi_scene_light_object = {
    .name = "light",
    .doc = "The light of the pictures.",
    WADI_SCENE_FIELDS(light_fields),
    .example = "{sun_height: 25, sun_direction: 210}",
};

static const WadiSceneChoice grounds[] = {
    { "auto", WADI_GROUND_AUTO,
      "where sand lies along most of the domain's sides at first, its plain goes on at the same height, "
      "unless "
      "`camera`, `walls` or `ground_height` is given; otherwise `slabs`, or `plain` where the domain's "
      "diagonal "
      "is shorter than 0.7 m" },
    { "slabs", WADI_GROUND_SLABS, "slabs of stone with joints" },
    { "plain", WADI_GROUND_PLAIN, "one colour" },
    { "checker", WADI_GROUND_CHECKER, "squares" },
    { "sand", WADI_GROUND_SAND, "an endless plain of the scene's first sand" },
    { "water", WADI_GROUND_WATER, "an endless sea" },
    { "none", WADI_GROUND_NONE, "nothing" },
};
WADI_SCENE_CHOICES(grounds);

static const WadiSceneChoice walls[] = {
    { "auto", WADI_RENDER_WALLS_AUTO,
      "glass where a liquid reaches a side of the domain, unless the ground is `sand` or `water` or the "
      "camera is inside" },
    { "hidden", WADI_RENDER_WALLS_HIDDEN, "not drawn" },
    { "glass", WADI_RENDER_WALLS_GLASS, "sheets of glass where the domain is closed" },
};
WADI_SCENE_CHOICES(walls);

static const WadiSceneField render_fields[] = {
    { "width", WADI_SCENE_INT, AT(width), .unit = "pixels", .minimum = 16, .maximum = 16384,
      .fallback = { 960 }, .doc = "Of the pictures." },
    { "height", WADI_SCENE_INT, AT(height), .unit = "pixels", .minimum = 16, .maximum = 16384,
      .fallback = { 540 }, .doc = "Of the pictures." },
    { "camera", WADI_SCENE_OBJECT, .object = &wadi_scene_camera_object,
      .where = offsetof(WadiScene, where_camera), .presence = offsetof(WadiScene, render.camera.is_given),
      .fallback_text = "automatic", .doc = "Where the pictures are taken from." },
    { "light", WADI_SCENE_OBJECT, .object = &wadi_scene_light_object,
      .presence = offsetof(WadiScene, render.light.is_given), .fallback_text = "sun and clear sky",
      .doc = "The light of the pictures." },
    { "ground", WADI_SCENE_ENUM, AT(ground), .choices = &grounds_choices,
      .doc = "What everything stands on." },
    { "ground_colour", WADI_SCENE_VEC3, AT(ground_colour), COLOUR, .fallback = { 0.57, 0.55, 0.52 },
      .doc = "Of the ground." },
    { "ground_height", WADI_SCENE_NUMBER, AT(ground_height), .unit = "m", .minimum = -1e9, .maximum = 1e9,
      .fallback = { -INFINITY }, .fallback_text = "the floor of the domain, or the lowest point",
      .doc = "Of the ground." },
    { "walls", WADI_SCENE_ENUM, AT(walls), .choices = &walls_choices,
      .fallback = { WADI_RENDER_WALLS_HIDDEN }, .doc = "Whether the sides of the domain show." },
    { "colliders", WADI_SCENE_BOOL, AT(has_colliders), .fallback = { 1 },
      .doc = "Whether colliders are drawn." },
    { "secondary", WADI_SCENE_BOOL, AT(has_secondary), .fallback = { 1 },
      .doc = "Whether foam, spray, bubbles and dust are drawn, where `wadi secondary` has made them." },
    { "collider_colour", WADI_SCENE_VEC3, AT(collider_colour), COLOUR, .fallback = { -1, -1, -1 },
      .fallback_text = "a muted colour each", .doc = "Of all colliders without a colour of their own." },
    { "exposure", WADI_SCENE_NUMBER, AT(exposure), .unit = "stops", .minimum = -20, .maximum = 20,
      .doc = "Brightness in stops: 1 doubles it." },
    { "shutter", WADI_SCENE_NUMBER, AT(shutter), .minimum = 0, .maximum = 1, .fallback = { 0.5 },
      .doc = "Fraction of a frame's time over which motion is blurred." },
    { "shutter_steps", WADI_SCENE_INT, AT(shutter_steps), .minimum = 1, .maximum = 64, .fallback = { 1 },
      .doc = "Parts of the shutter's time; in each the surface is made of the particles where they are then, "
             "so that thin water is blurred and not torn. 1: the surface's vertices move." },
};
const WadiSceneObject wadi_scene_render_object = {
    .name = "render",
    .doc = "How `wadi render` draws the run.",
    WADI_SCENE_FIELDS(render_fields),
    .example = "{width: 1280, height: 720, walls: glass, light: {sun_height: 30}}",
};
