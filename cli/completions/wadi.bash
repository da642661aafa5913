# Made by wadi --dump-completion; change cli/commands.c or cli/completions.c instead.

_wadi_words() {
    local word
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$current")
}

_wadi_files() {
    local word suffix
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
        case $1 in
        any) compgen -f -- "$current" ;;
        folder) compgen -d -- "$current" ;;
        scene)
            compgen -d -- "$current"
            for suffix in yaml yml json; do compgen -f -X "!*.$suffix" -- "$current"; done
            ;;
        esac
    )
}

_wadi() {
    local current=${COMP_WORDS[COMP_CWORD]} previous= command= commands='run check surface secondary render view export farm wedge info schema gallery bench help'
    local gallery='bunny-water bunny-sand-slippery bunny-sand water-column sand-column flip-vs-pic inf585-collapse inf585-alpha inf585-layers circle-blobs inf585-radius moist-column jet-on-pile rain-on-soil hourglass bunny-moist sand-duck sand-bunny-dragons sand-bunny-bear sand-bear floor-heap terrain-splash bowl-pour dragon-waves figure-heaps' benches='flip sph dem surface'
    local cases='water-ball water-ball-4 sand-ball sand-column rest water-block sand-block wet-block pile-and-jet settled collapse rest zhu-bridson anisotropic'
    COMPREPLY=()
    ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
    # Bash cuts --option=value into three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $command in
    '')
        if [[ $current == -* ]]; then
            _wadi_words "-h --help -V --version"
        else
            _wadi_words "$commands"
        fi
        ;;
    run)
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --solver ]]; then
            _wadi_words "points flip sph dem"
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $previous == --from-frame ]]; then
            :
            return
        fi
        if [[ $previous == --changes ]]; then
            _wadi_files any
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "-o --output --frames --solver --set --threads --resume --from-frame --overwrite --changes --json -q --quiet -h --help"
        else
            _wadi_files scene
        fi
        ;;
    check)
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --solver ]]; then
            _wadi_words "points flip sph dem"
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--frames --solver --set --no-time --json -h --help"
        else
            _wadi_files scene
        fi
        ;;
    surface)
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --method ]]; then
            _wadi_words "zhu_bridson anisotropic blobby color_field mls"
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == --material ]]; then
            :
            return
        fi
        if [[ $previous == --subframe ]]; then
            :
            return
        fi
        if [[ $previous == --format ]]; then
            _wadi_words "ply obj vdb"
            return
        fi
        if [[ $previous == --up ]]; then
            _wadi_words "z y"
            return
        fi
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --stale ]]; then
            :
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--frames --method --set --material --subframe --format --up -o --output --force --share --wait --stale --threads --json -q --quiet -h --help"
        else
            _wadi_files folder
        fi
        ;;
    secondary)
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--frames --set --force --threads --json -q --quiet -h --help"
        else
            _wadi_files folder
        fi
        ;;
    render)
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --every ]]; then
            :
            return
        fi
        if [[ $previous == --quality ]]; then
            _wadi_words "draft preview final"
            return
        fi
        if [[ $previous == --samples ]]; then
            :
            return
        fi
        if [[ $previous == --size ]]; then
            :
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == --color ]]; then
            _wadi_words "speed pressure rigid material"
            return
        fi
        if [[ $previous == --range ]]; then
            :
            return
        fi
        if [[ $previous == --map ]]; then
            _wadi_words "dune lagoon split grey kinds"
            return
        fi
        if [[ $previous == --cut ]]; then
            :
            return
        fi
        if [[ $previous == --time ]]; then
            :
            return
        fi
        if [[ $previous == --sheet ]]; then
            :
            return
        fi
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --stale ]]; then
            :
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--frames --every --quality --samples --size --set --color --range --map --cut --layout --time --no-video --gif --sheet -o --output --force --overwrite --share --wait --stale --video --threads --json -q --quiet -h --help"
        else
            _wadi_files any
        fi
        ;;
    view)
        if [[ $previous == --solver ]]; then
            _wadi_words "points flip sph dem"
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --port ]]; then
            :
            return
        fi
        if [[ $previous == --listen ]]; then
            :
            return
        fi
        if [[ $previous == --beside ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--solver --set -o --output --port --listen --beside --paused --no-open --threads --json -h --help"
        else
            _wadi_files any
        fi
        ;;
    export)
        if [[ $previous == --to ]]; then
            _wadi_words "pov pbrt blender usd ply obj vdb"
            return
        fi
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == --up ]]; then
            _wadi_words "z y"
            return
        fi
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--to --frames --set --up -o --output --one-file --force --threads --json -q --quiet -h --help"
        else
            _wadi_files folder
        fi
        ;;
    farm)
        if [[ $previous == --to ]]; then
            _wadi_words "sh slurm openjd flamenco opencue"
            return
        fi
        if [[ $previous == --work ]]; then
            _wadi_words "render surface"
            return
        fi
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --chunk ]]; then
            :
            return
        fi
        if [[ $previous == --cpus ]]; then
            :
            return
        fi
        if [[ $previous == --memory ]]; then
            :
            return
        fi
        if [[ $previous == --minutes ]]; then
            :
            return
        fi
        if [[ $previous == --wadi ]]; then
            :
            return
        fi
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--to --work --frames --chunk --cpus --memory --minutes --wadi -o --output --json -q --quiet -h --help"
        else
            _wadi_files folder
        fi
        ;;
    wedge)
        if [[ $previous == --vary ]]; then
            :
            return
        fi
        if [[ $previous == --index ]]; then
            :
            return
        fi
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --quality ]]; then
            _wadi_words "draft preview final"
            return
        fi
        if [[ $previous == --size ]]; then
            :
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--vary --grid --zip --index --resume --frames --set -o --output --quality --size --no-mosaic --threads --json -q --quiet -h --help"
        else
            _wadi_files scene
        fi
        ;;
    info)
        if [[ $current == -* ]]; then
            _wadi_words "--json -h --help"
        else
            _wadi_files any
        fi
        ;;
    schema)
        if [[ $current == -* ]]; then
            _wadi_words "--markdown -h --help"
        else
            :
        fi
        ;;
    gallery)
        if [[ $previous == -o || $previous == --output ]]; then
            _wadi_files folder
            return
        fi
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --set ]]; then
            :
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "-o --output --print --frames --set --threads --resume --overwrite --json -q --quiet -h --help"
        else
            _wadi_words "$gallery"
        fi
        ;;
    bench)
        if [[ $previous == --case ]]; then
            _wadi_words "$cases"
            return
        fi
        if [[ $previous == --frames ]]; then
            :
            return
        fi
        if [[ $previous == --scale ]]; then
            :
            return
        fi
        if [[ $previous == --threads ]]; then
            :
            return
        fi
        if [[ $current == -* ]]; then
            _wadi_words "--case --frames --scale --threads --json -h --help"
        else
            _wadi_words "$benches"
        fi
        ;;
    help)
        if [[ $current == -* ]]; then
            _wadi_words "-h --help"
        else
            _wadi_words "$commands"
        fi
        ;;
    esac
}

complete -F _wadi wadi
