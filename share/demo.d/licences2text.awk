# licences2text.awk - passages of licence texts, without shared paragraphs and without names of licences
#
# usage: LC_ALL=C awk -f share/demo.d/licences2text.awk -v into=FOLDER LICENCE...
#
# Writes FOLDER/FAMILY/NAME-001.txt and so on, passages of eighty words or a few more; the family of
# GPL-2 is GPL. The folders must exist. Repeated paragraphs, in any licence, and the names of licences
# are removed.

BEGIN { RS = "" }

FNR == 1 {
        finish_passage()
        name = FILENAME
        sub(/.*\//, "", name)
        family = name
        sub(/-[0-9.]*$/, "", family)
        number = 0
}

{
        gsub(/[ \t\n\f]+/, " ")
        gsub(/L?GPL|GFDL|GNU|Lesser|Library|MPL|Mozilla|Apache|Artistic|CC0|Creative Commons/, "")
        words = tolower($0)
        gsub(/[^a-z]+/, " ", words)
}

!seen[words]++ {
        passage = passage $0 "\n"
        count += split(words, unused, " ")
        if (count >= 80)
                finish_passage()
}

END { finish_passage() }

function finish_passage() {
        if (count >= 20) { # too short for a passage
                file = sprintf("%s/%s/%s-%03d.txt", into, family, name, ++number)
                printf "%s", passage >file
                close(file)
        }
        passage = ""
        count = 0
}
