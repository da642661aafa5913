// The contents of the site: [heading, pages]. Pages that are not listed stand below "More".
export const groups = [
  ["Begin", ["README.md", "docs/tutorial.md", "docs/howto.md", "docs/faq.md", "docs/which-solver.md", "docs/gallery.md", "play"]],
  ["Use", ["docs/scene-reference.md", "docs/cli.md", "docs/render.md", "docs/secondary.md", "docs/surface.md", "docs/view.md",
           "docs/export.md", "docs/blender.md", "docs/farm.md", "docs/formats.md"]],
  ["Solvers", ["docs/flip.md", "docs/sph.md", "docs/dem.md", "docs/dem-surface-flow.md"]],
  ["Program", ["docs/library.md", "docs/python.md", "docs/architecture.md", "CONTRIBUTING.md", "docs/release.md", "CHANGELOG.md"]],
  ["Background", ["docs/theory.md", "docs/tracer.md", "docs/validation/README.md", "docs/measurements.md", "docs/reproduction.md",
                  "docs/references.md"]],
];
