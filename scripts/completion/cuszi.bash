# bash completion for cuszi: the commands, options and words that its help prints

# _cuszi_options COMMAND: its options as in help, one a line: "-m,--mode rel|abs".
_cuszi_options() { "${COMP_WORDS[0]}" "$1" --help 2>/dev/null | sed -n '/^  -/ { s/^  //; s/  .*//; p }'; }

_cuszi() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local words='' options='' names values rest
    if [[ $COMP_CWORD -eq 1 || $command == help ]]; then
        words=$("${COMP_WORDS[0]}" --help | sed -n '/^Subcommands:/,/^$/ s/^  \([a-z-]*\) .*/\1/p')' help'
        [[ $COMP_CWORD -gt 1 ]] || words+=' --help --version'
        [[ $COMP_CWORD -le 2 ]] || words=''
    else
        while read -r names values rest; do
            options+=" ${names#*,}"
            [[ ,$names, != *",$previous,"* ]] || words=$values
        done < <(_cuszi_options "$command")
        case $words in
            '') [[ $current != -* ]] || words=$options ;;
            FILE | OUT | ORIGINAL | NAME...) words='' ;;
            *)  # "psnr:DB|ratio:R" is psnr: and ratio:
                words=$(sed 's/\[.*\]//; s/[A-Z][A-Z,=.:]*//g; s/|/ /g' <<<"$words")
                [[ $words == *[a-z]* ]] || return  # a number
                ;;
        esac
        if [[ -z $words ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    [[ ${COMPREPLY[0]-} != *[=:] ]] || compopt -o nospace
}

complete -F _cuszi cuszi
