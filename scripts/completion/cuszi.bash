# bash completion for cuszi

_cuszi() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local commands='compress decompress compare inspect test list show bench zfp-import zfp-export help'
    local inputs='--recursive --filelist'
    local field='--dims --dims-xyz --type --skip-bytes --byte-order --fill-value --error-bound --mode'
    local target='--target --target-miss --bound'
    local method='--value-range --preset --predictor --axes --reach --alpha --beta --effort --interp
        --radius --zfp-mode --zfp-chunk --coder --huffman-width --index --chunk --partition --lossless
        --frame-size'
    local output='--output --stdout --force --keep'
    local device='--device --threads'
    local report='--json --quiet'
    local words=

    case $previous in
        -m | --mode) words='rel abs' ;;
        --target) words='psnr: ratio:' ;;
        --target-miss) words='error ok' ;;
        -t | --type) words='f32 f64' ;;
        --preset) words='ratio cuszi cusz fast zfp' ;;
        --predictor) words='auto lorenzo interp multilevel tiles zfp' ;;
        --zfp-mode) words='accuracy precision: rate: reversible' ;;
        --axes) words='auto lattice layered:0 independent:0' ;;
        --reach) words='auto 3 5 7' ;;
        --alpha | --beta) words='auto' ;;
        --effort) words='fast normal best' ;;
        --interp) words='tile= anchor= alpha= cubic=natural cubic=not-a-knot order=' ;;
        --coder) words='auto huffman ans' ;;
        --huffman-width) words='auto 32 64' ;;
        --index) words='hybrid offset length none' ;;
        --study) words='huffman index zfp-index' ;;
        --format) words='png sixel kitty blocks' ;;
        --slice) words='w= z= y= x=' ;;
        --lossless) words='none bitcomp' ;;
        --byte-order) words='little big' ;;
        --device) words='auto cpu cuda' ;;
        --radius) words='auto' ;;
        --fill-value) words='netcdf' ;;
        -e | --error-bound | --bound | -d | --dims | --dims-xyz | --value-range | --skip-bytes | --zfp-chunk | --chunk | \
            --partition | \
            --frame-size | --memory-limit | --threads | --frame | --stride | --box | --iterations) return ;;
    esac

    if [[ ${COMP_WORDS[1]} == help && $COMP_CWORD -gt 1 ]]; then
        COMPREPLY=()
        [[ $COMP_CWORD -gt 2 ]] || mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
        return
    fi
    if [[ -z $words && ($COMP_CWORD -eq 1 || $current == -*) ]]; then
        [[ $COMP_CWORD -eq 1 ]] || words='--help'
        case ${COMP_WORDS[1]} in
            compress) words+=" $inputs --rm $field $target $method $output $device $report --verify --strict" ;;
            decompress) words+=" $inputs $output $device $report --frame --stride --box --compare --byte-order
                --memory-limit" ;;
            compare) words+=" $field $report --strict" ;;
            inspect) words+=' --frames --schedule --field-name --type --json' ;;
            test) words+=" $inputs $device $report --memory-limit" ;;
            list) words+=" $inputs --json" ;;
            show) words+=" --slice --stride --compare --format --dims --dims-xyz --type --skip-bytes --byte-order
                --fill-value $output $device $report --memory-limit" ;;
            bench) words+=" $field $method $device $report --iterations --study" ;;
            zfp-import) words+=" --dims --type --error-bound --zfp-mode --zfp-chunk --index --partition --frame-size
                $output $report" ;;
            zfp-export) words+=" $output $report" ;;
            *) words="$commands --help --version" ;;
        esac
    fi

    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        [[ ${COMPREPLY[0]-} != *[=:] ]] || compopt -o nospace
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -F _cuszi cuszi
