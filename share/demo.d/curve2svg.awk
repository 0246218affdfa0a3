# curve2svg.awk - a curve of learning as SVG: lines "documents accuracy" in, from few documents to many
#
# The axis of documents is logarithmic: each step to the right doubles them.
{ n[NR] = $1; y[NR] = $2 }
END {
        left = 50; top = 40; width = 340; height = 200
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 420 300\" width=\"420\" height=\"300\" font-family=\"sans-serif\" font-size=\"11\">"
        print "<rect width=\"420\" height=\"300\" fill=\"white\"/>"
        print "<text x=\"210\" y=\"20\" text-anchor=\"middle\" font-size=\"13\">Accuracy on unseen documents</text>"
        for (share = 0; share <= 100; share += 25) {
                at = top + height * (1 - share / 100)
                printf "<line x1=\"%d\" x2=\"%d\" y1=\"%g\" y2=\"%g\" stroke=\"#ddd\"/>", left, left + width, at, at
                printf "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%d %%</text>\n", left - 6, at + 4, share
        }
        for (i = 1; i <= NR; i++) {
                x = left + (NR > 1 ? (width - 20) * (i - 1) / (NR - 1) : 0) + 10
                at = top + height * (1 - y[i])
                points = points sprintf("%g,%g ", x, at)
                marks = marks sprintf("<circle cx=\"%g\" cy=\"%g\" r=\"3\" fill=\"#1f5fa8\"/>", x, at)
                printf "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", x, top + height + 16, n[i]
        }
        print "<polyline fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\" points=\"" points "\"/>" marks
        print "<text x=\"210\" y=\"290\" text-anchor=\"middle\">training documents</text>"
        print "</svg>"
}
