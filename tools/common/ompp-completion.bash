# Completion of ompp-report, ompp-struct, ompp, ompp-config and kinst-ompp for bash. Options come from each command's own help, so there is no
# second list of them; files are offered by what the command reads.

# The options that its help names, those with a value ending in "=". Each line: two blanks, options with commas, blanks, words.
_ompp_options()
{
    local help=--help
    [[ ${1##*/} == ompp ]] && help=--help=all
    "$1" $help 2>/dev/null | awk '/^  -/ {
        sub(/^ +/, ""); sub(/  .*/, ""); n = split($0, words, /, */)
        for (i = 1; i <= n; i++) { sub(/=.*/, "=", words[i]); print words[i] }
    }'
}

# The commands that it names.
_ompp_commands()
{
    "$1" --help 2>/dev/null | awk '/^Commands:/ { on = 1 } /^Options:/ { on = 0 } on && /^  [a-z]/ { print $1 }'
}

# Options that begin with the current word; one that wants a value gets no blank.
_ompp_complete_option()
{
    mapfile -t COMPREPLY < <(compgen -W "$(_ompp_options "$1")" -- "$cur")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}

# Where the command that is run begins: the first word that is no option; 0 when there is none before the current word.
_ompp_first_word()
{
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] && { echo $((i + 1)); return; }
        # bash splits --name=value at the equals sign
        [[ ${COMP_WORDS[i]} == = ]] && { ((i++)); continue; }
        [[ ${COMP_WORDS[i]} == -* ]] || { echo "$i"; return; }
    done
    echo 0
}

_ompp_report()
{
    local cur=${COMP_WORDS[COMP_CWORD]} first
    first=$(_ompp_first_word)
    COMPREPLY=()
    if [[ $cur == -* ]]; then
        _ompp_complete_option "$1"
    elif [[ $cur != = && ${COMP_WORDS[COMP_CWORD - 1]} != = ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(
            [[ $first -eq 0 ]] && compgen -W "$(_ompp_commands "$1")" -- "$cur"
            compgen -f -X '!*.@(xml|txt|csv|bin)*' -- "$cur"
            compgen -d -- "$cur")
    fi
}

# ompp and kinst-ompp stand before another command.
_ompp_before()
{
    local cur=${COMP_WORDS[COMP_CWORD]} first
    first=$(_ompp_first_word)
    COMPREPLY=()
    if [[ $first -eq 0 && $cur == -* ]]; then
        _ompp_complete_option "$1"
    elif [[ $first -gt 0 && $first -lt $COMP_CWORD ]] && declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    elif [[ $first -gt 0 && $first -lt $COMP_CWORD ]]; then
        compopt -o default 2>/dev/null
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    fi
}

_ompp_config()
{
    local cur=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    _ompp_complete_option "$1"
}

# A program or library.
_ompp_struct()
{
    local cur=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    if [[ $cur == -* ]]; then
        _ompp_complete_option "$1"
    elif [[ $cur != = && ${COMP_WORDS[COMP_CWORD - 1]} != = ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}

shopt -q extglob || shopt -s extglob
complete -F _ompp_report ompp-report
complete -F _ompp_config ompp-config
complete -F _ompp_struct ompp-struct
complete -F _ompp_before ompp kinst-ompp kinst-ompp-papi
