#!/usr/bin/env bash
# Makes build/site: the documentation with its search and, where build/web is there, the page with the solver inside it.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() {
    echo "site: $1" >&2
    exit 1
}
command -v npm >/dev/null || fail "npm is not installed (tools/setup.sh view installs it)"
modules=build/site-modules
mkdir -p "$modules"
cp web/site/package.json web/site/package-lock.json "$modules/"
if ! cmp -s web/site/package-lock.json "$modules/installed"; then
    (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline >npm.log 2>&1) ||
        fail "npm could not install the packages of web/site/package.json, see $modules/npm.log"
    cp web/site/package-lock.json "$modules/installed"
fi
play=()
[ ! -e build/web/wadi.wasm ] || play=(build/web)
rm -rf build/site.new
node web/site/build.mjs . build/site.new "$modules/node_modules" "${play[@]}" || fail "the pages are not made"
rm -rf build/site
mv build/site.new build/site
echo "build/site is the site: copy it to any web host, or look at it with"
echo "  python3 -m http.server --directory build/site --bind 127.0.0.1"
