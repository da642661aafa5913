# A thin front end: CMake builds, tools/ holds the steps that take more than a line.
PREFIX ?= /usr/local
VALIDATE ?=
# The system's Python first: that is where tools/setup.sh installs h5py.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := build
.PHONY: build demo tutorial-pictures view web site wheel blender deb packages test test-long validate fuzz format tidy docs install uninstall bench \
        clean help

build: ## build build/wadi and the libraries (installs nothing)
	@tools/build.sh release wadi_cli wadi_static wadi_shared

demo: ## install what is missing, build, simulate a wave and a sand castle (scenes/demo) into demo.run and make a video of it (two minutes)
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory build
	@build/wadi run scenes/demo/demo.yaml -o demo.run --overwrite
	@build/wadi render demo.run --quality draft --samples 2 --size 640x360 --sheet 9
	@echo
	@echo "The video is demo.run/demo.mp4; nine of its pictures side by side are demo.run/demo.sheet.png."
	@echo "Three things to try:"
	@echo "  cp scenes/demo/demo.yaml mine.yaml && build/wadi render mine.yaml --set name=mine --set materials.sand.cohesion=4000 --quality draft --size 640x360 --every 4"
	@echo "                                        your own copy, of sand that holds less; open mine.yaml and change more"
	@echo "  make view && build/wadi view mine.yaml    watch it in a browser while it runs, and push"
	@echo "  build/wadi render scenes/splash/splash.yaml --quality draft    another scene; build/wadi gallery lists the published ones"
	@echo "The tutorial is docs/tutorial.md: a scene of your own in 20 minutes."

view: ## install what the live view needs (npm, libwebsockets) and build with it: build/wadi view SCENE
	@tools/setup.sh view
	@$(MAKE) --no-print-directory build

web: ## make build/web, the page of the view with the solver inside it, as a folder for any web host
	@tools/setup.sh web
	@tools/web.sh

site: ## make build/site: the documentation with a search, the gallery and the page with the solver inside, as one folder
	@tools/setup.sh web
	@tools/web.sh
	@tools/site.sh

wheel: ## make build/wheel/wadi-….whl, the Python package with the library, and try it in an empty virtual environment
	@tools/setup.sh wheel
	@tools/build.sh portable wadi_shared
	@$(PYTHON) python/make_wheel.py build/portable/libwadi.so build/wheel --try

blender: ## make build/blender/wadi-blender-….zip, the add-on for Blender (Preferences, Add-ons, Install)
	@$(PYTHON) blender/make_extension.py build/blender

deb: ## make build/packages/wadi_….deb, for Debian and its relatives
	@tools/setup.sh package
	@$(PYTHON) tools/package.py deb

packages: ## make all packages in build/packages: deb, a folder that runs anywhere (tar), an OCI image, the page for npm
	@tools/setup.sh package
	@tools/setup.sh web
	@$(PYTHON) tools/package.py deb tar image npm

test: ## install what is missing and run every check and test (minutes)
	@tools/setup.sh test
	@tools/test.sh

test-long: ## the same with larger cases, all tests in all builds, and the fuzzers
	@tools/setup.sh long
	@WADI_LONG=1 FUZZ_SECONDS=$(FUZZ_SECONDS) tools/test.sh

validate: build ## measure heaps, columns, silos, an hourglass, a dam break, rest and scaling into docs/validation (hours; VALIDATE=--quick: minutes)
	@tools/setup.sh test
	@for tool in tools/validate/*.py; do [ ! -x $$tool ] || $(PYTHON) $$tool $(VALIDATE) || exit 1; done

fuzz: ## run each fuzz target for FUZZ_SECONDS
	@tools/fuzz.sh $(FUZZ_SECONDS)

bench: ## the tests that limit times, one at a time, with these limits: for a machine that does nothing else
	@tools/build.sh release >build/bench.log || { cat build/bench.log; exit 1; }
	@WADI_BENCH=1 WADI_LONG=1 ctest --test-dir build -L bench -j 1 --output-on-failure --timeout 3600

format: ## clang-format every C file in place
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

tidy: ## clang-tidy what changed since it was last clean
	@tools/build.sh asan wadi_static
	@tools/tidy.py build/asan

docs: build ## rewrite the manual, the reference pages and the completions from the command's tables
	@mkdir -p docs/man cli/completions
	@build/wadi --dump-man > docs/man/wadi.1
	@build/wadi --dump-markdown > docs/cli.md
	@build/wadi --dump-completion bash > cli/completions/wadi.bash
	@build/wadi --dump-completion zsh > cli/completions/_wadi
	@build/wadi --dump-completion fish > cli/completions/wadi.fish
	@build/wadi schema --markdown > docs/scene-reference.md
	@build/wadi schema > docs/scene.schema.json
	@$(PYTHON) tools/theory_figures.py docs/theory

tutorial-pictures: build ## make the pictures of docs/tutorial.md anew (minutes)
	@tools/tutorial_pictures.sh build/wadi

install: ## build for all processors, and install under PREFIX (/usr/local), below DESTDIR when given
	@tools/build.sh portable wadi_cli wadi_static wadi_shared
	@DESTDIR="$(DESTDIR)" cmake --install build/portable --prefix "$(PREFIX)"

uninstall: ## remove what make install put under PREFIX, below DESTDIR when given
	@tools/uninstall.sh build/portable/install_manifest.txt "$(DESTDIR)" "$(PREFIX)"

clean: ## remove everything that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 12
