# ran.bash - completion of verbs, options and their values for the programs of ran
#
# Use it with `. share/completion/ran.bash` in ~/.bashrc; `make install` puts it where
# bash-completion finds it. All words come from --print-options of the program on the command line,
# so they are those of the version in use.

# _ran_words OPTION: values of the option, in the table on standard input; without one, its verbs
# and options. A leading comma means that the option takes several values.
_ran_words() {
        awk -F '\t' -v option="$1" '
                option == "" { print $1 }
                option != "" && ($1 == option || $2 == option) && $4 != "" {
                        words = $4
                        if (sub(/,\.\.\.$/, "", words))
                                print ","
                        gsub(/,/, "\n", words)
                        print words
                }'
}

_ran() {
        local word=$2 before=$3 option='' words first='' table
        local command=("$1")

        # The first word may be a verb, which has options of its own.
        if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} == [a-z]* ]]; then
                if "$1" --print-options </dev/null 2>/dev/null | cut -f 1 | grep -qxF -e "${COMP_WORDS[1]}"; then
                        command+=("${COMP_WORDS[1]}")
                fi
        fi
        # Bash splits --option=value into three words.
        if [[ $word == = ]]; then
                option=$before word=
        elif [[ $before == = ]]; then
                option=${COMP_WORDS[COMP_CWORD - 2]}
        elif [[ $before == -* && $before != -- ]]; then
                option=$before
        fi

        table=$("${command[@]}" --print-options </dev/null 2>/dev/null)
        words=
        if [[ -n $option ]]; then
                words=$(_ran_words "$option" <<<"$table")
        fi
        if [[ $words == ,* ]]; then
                words=${words#,}
                # Completes the last of several values.
                [[ $word != *,* ]] || first=${word%,*},
        elif [[ -z $words && $word == -* ]]; then
                words=$(_ran_words '' <<<"$table" | grep '^-')
        elif [[ -z $words && $COMP_CWORD -eq 1 ]]; then
                words=$(_ran_words '' <<<"$table" | grep '^[^-]')
        fi
        mapfile -t COMPREPLY < <(compgen -P "$first" -W "$words" -- "${word#"$first"}")
}

# Without words, complete file names.
complete -o default -F _ran ran-tokenize ran-train ran-classify ran-tag ran-lm ran-attnmask
