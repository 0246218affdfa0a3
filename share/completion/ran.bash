# ran.bash - completion of verbs, options and their values for the programs of ran
#
# Use it with `. share/completion/ran.bash` in ~/.bashrc, or put it into a folder of completions,
# like /etc/bash_completion.d. All words come from the --help of the program on the command line, so
# they are those of the version in use.

# _ran_words verbs|options|values OPTION: words in the --help on standard input
_ran_words() {
        awk -v what="$1" -v option="${2-}" '
                /^[A-Z].*:/ { in_verbs = /^Verbs:/ }
                in_verbs && /^  [a-z]/ && what == "verbs" { print $1 }

                # An option has the form "  -x, --name VALUE  what it does (some, values; default: some)",
                # and goes on in lines that are set in.
                /^  (-.,|   ) --/ {
                        finish()
                        match($0, /--[^ ]+( [A-Z]+)?/)
                        name = substr($0, RSTART, RLENGTH)
                        text = substr($0, RSTART + RLENGTH)
                        sub(/ .*/, "", name)
                        next
                }
                /^          / { text = text " " $0 }
                /^ ? ?[^ ]/ { finish() }
                END { finish() }

                function finish(    no) {
                        no = sub(/\[no-\]/, "", name)
                        if (what == "options" && name != "") {
                                print name
                                if (no)
                                        print "--no-" substr(name, 3)
                        }
                        gsub(/ +/, " ", text)
                        if (what == "values" && name == option &&
                            match(text, /\([a-z0-9_-]+(, [a-z0-9_-]+)+; default/)) {
                                text = substr(text, RSTART + 1, RLENGTH - 10)
                                gsub(/, /, "\n", text)
                                print text
                        }
                        name = text = ""
                }'
}

_ran() {
        local word=$2 before=$3 option='' verb='' words
        local help=("$1")

        if [[ ${COMP_WORDS[1]} != -* && $COMP_CWORD -gt 1 ]]; then
                "$1" --help </dev/null 2>/dev/null | _ran_words verbs | grep -qxF -e "${COMP_WORDS[1]}" &&
                        verb=${COMP_WORDS[1]}
        fi
        help+=(${verb:+"$verb"} --help)

        # Bash cuts --option=value into three words.
        if [[ $word == = ]]; then
                option=$before word=
        elif [[ $before == = ]]; then
                option=${COMP_WORDS[COMP_CWORD - 2]}
        elif [[ $before == --* ]]; then
                option=$before
        fi

        if [[ -n $option ]]; then
                words=$("${help[@]}" </dev/null 2>/dev/null | _ran_words values "$option")
        fi
        if [[ -z $words && $word == -* ]]; then
                words=$("${help[@]}" </dev/null 2>/dev/null | _ran_words options)
        elif [[ -z $words && -z $option ]]; then
                words=$("${help[@]}" </dev/null 2>/dev/null | _ran_words verbs)
        fi
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Where there are no words, names of files are completed.
complete -o default -F _ran ran-tokenize ran-train ran-classify ran-tag ran-lm ran-attnmask
