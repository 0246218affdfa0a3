#!/usr/bin/env python3
"""corpus.py get|text WORK [NAME...]: the texts that english.ran learned from.

get clones their repositories into WORK; text writes WORK/text/NAME.jsonl for each source, or for those named."""
import csv
import hashlib
import html
import io
import json
import os
import random
import re
import subprocess
import sys
import zipfile

GITHUB = os.environ.get("GITHUB", "https://github.com")
WORDNET = os.environ.get("WORDNET", "/usr/share/wordnet")
COMMITS = {
    "LCTT/TranslateProject": "4948360714403ebcefc3abff80dcc69ad706bf5d",
    "ZhouYii/PatchedDistro": "961716d8a5a0df1a6373a4d61e360a0b5d1b85cd",
    "abachaa/MedQuAD": "577bd37b96c02d1833b2c9eed2de9f96964e96cb",
    "ccsasuke/man": "b57b4c14340db1ca7bffb5d9737b7c2601dc8df2",
    "chelseanbr/between-the-lines": "42f9f1f0075521cc54fdacc3781aeb29cbc99ee7",
    "google-research-datasets/dstc8-schema-guided-dialogue": "e852981ae34990f4358979625854259302feaa78",
    "jeremybmerrill/scotuslm": "3674379cef90ca2d0dd5492af0e3b6a90f19c8d8",
    "lorenzoritter/domainadaption": "f35a75418ea0ecf75dd85237bfcf68c224533747",
    "luikyv/email_classification": "81b3aa67e16382cc485070120e39a94107efa8b2",
    "madan1718/Dataset_mobapp_review": "4baf8722125c5ac976d38ef635d2d164f8572ba8",
    "mlschmitt/classic-books-markdown": "944882722e9a96fa6cf2739dc2ea757e101f412f",
    "monologg/GoEmotions-pytorch": "b75f9d3a8b76bc1060687925b04ca98a1b8ea66b",
    "mulhod/steam_reviews": "c2153bf75b683fb86101398744d3ab83954ba6f3",
    "nltk/nltk_data": "5db857e6f7df11eabb5e5665836db9ec8df07e28",
    "quankiquanki/skytrax-reviews-dataset": "bd4997cbfce42aeef9281818560e845adc5382f0",
    "taminemelissa/quiz-generator": "d21d03334ce88c194f8b55317bf8091e7b836f83",
    "uberspot/OpenTriviaQA": "dd31530bfbb19f9505b160b89c9df4b1127e3c70",
    "umbrae/reddit-top-2.5-million": "d0efcade504b8ed735a48ddc2b15552fa924c9d9",
}
WITH_HISTORY = ("LCTT/TranslateProject", "jeremybmerrill/scotuslm")
WORK = ""

# ---- repositories --------------------------------------------------------------------------------


def folder(repository):
    return os.path.join(WORK, repository.split("/")[1])


def get(repository):
    """All of its history only where old versions are read."""
    if os.path.isdir(folder(repository)):
        return
    new, url = folder(repository) + ".new", f"{GITHUB}/{repository}"
    subprocess.run(["rm", "-rf", new], check=True)
    subprocess.run(["git", "init", "-q", "--bare", new], check=True)
    depth = [] if repository in WITH_HISTORY else ["--depth", "1"]
    subprocess.run(["git", "-C", new, "fetch", "-q", *depth, url, COMMITS[repository]], check=True)
    os.rename(new, folder(repository))


def git(repository, *words):
    command = ["git", "-c", "core.quotepath=off", "-C", folder(repository), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")


def listed(repository, pattern):
    """(path, blob) of the files of the commit that match, below 4 MiB and not empty."""
    files = []
    for line in git(repository, "ls-tree", "-r", "-l", COMMITS[repository]).splitlines():
        about, path = line.split("\t", 1)
        _, kind, blob, size = about.split()
        if kind == "blob" and 0 < int(size) < 4 << 20 and re.search(pattern, path):
            files.append((path, blob))
    return files


def once(repository, *words):
    """(path, blob) of all versions of files in the history."""
    log = git(repository, "log", "--format=", "--raw", "--no-abbrev", "--no-renames", *words)
    for line in log.splitlines():
        about, path = line.split("\t", 1)
        blob = about.split()[3]
        if blob.strip("0"):
            yield path.strip('"'), blob


def contents(repository, files):
    process = subprocess.Popen(["git", "-C", folder(repository), "cat-file", "--batch"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    for path, blob in files:
        process.stdin.write(blob.encode() + b"\n")
        process.stdin.flush()
        data = process.stdout.read(int(process.stdout.readline().split()[2]))
        process.stdout.read(1)
        yield path, data
    process.stdin.close()
    process.wait()


def texts(repository, pattern):
    for path, data in contents(repository, listed(repository, pattern)):
        yield path, decode(data)


def unzipped(name):
    """The text files of a corpus of NLTK."""
    (_, data), = contents("nltk/nltk_data", listed("nltk/nltk_data", rf"packages/corpora/{name}\.zip$"))
    archive = zipfile.ZipFile(io.BytesIO(data))
    for member in archive.namelist():
        if member.endswith(".txt") and "README" not in member:
            yield member, decode(archive.read(member))


# ---- texts ---------------------------------------------------------------------------------------


def decode(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def rows(text):
    return csv.DictReader(io.StringIO(text.replace("\0", "")))


TAG = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,300}|!--.*?--)>", re.S)


def clean(t):
    if "&" in t:
        t = html.unescape(html.unescape(t))
    if "<" in t:
        t = TAG.sub(" ", re.sub(r"<(br|p|/p|/div|/li|li)\b[^>]*>", "\n", t, flags=re.I))
    t = t.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    t = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\ufeff\ufffd]", "", t)
    t = re.sub(r" ?\n ?", "\n", re.sub(r"[ \t]+", " ", t))
    return re.sub(r"\n{3,}", "\n\n", t).strip()


FREQUENT = re.compile(r"\b(the|and|to|of|a|is|in|it|i|you|for|was|with|that|this|on|not|my|are|but|have|be|very|as|so|good|"
                      r"great)\b", re.I)


def is_english(t):
    head = t[:1500]
    words = head.split()
    if not words or sum(ord(c) > 0x24F for c in head if c.isalpha()) > 0.1 * len(head):
        return False
    if len(words) < 6:
        return sum(c.isascii() for c in head) > 0.9 * len(head)
    return len(FREQUENT.findall(head)) >= 0.12 * len(words)


class Texts:
    """A file of texts, each once. least: characters of a text. megabytes: how many are enough."""

    def __init__(self, name, least=40, english=True, megabytes=None):
        self.name, self.least, self.english = name, least, english
        self.enough = megabytes * 1e6 if megabytes else float("inf")
        self.file = open(os.path.join(WORK, "text", name + ".jsonl"), "w", encoding="utf-8")
        self.seen, self.bytes = set(), 0

    def add(self, t, most=None):
        t = clean(t)[:most]
        key = hashlib.blake2b(re.sub(r"\W+", "", t.lower()).encode(), digest_size=8).digest()
        if len(t) < self.least or (self.english and not is_english(t)) or key in self.seen:
            return False
        self.seen.add(key)
        self.bytes += len(t.encode("utf-8", "replace"))
        self.file.write(json.dumps({"text": t}, ensure_ascii=False) + "\n")
        return True

    def full(self):
        return self.bytes >= self.enough

    def close(self):
        self.file.close()
        print(f"{self.name}: {len(self.seen)} texts, {os.path.getsize(self.file.name)} bytes", file=sys.stderr)


def links(t):
    """Markdown without links and pictures."""
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", t)


def joined(out, lines, enough, fewest=1, most=None):
    """Adds paragraphs together until they have so many characters."""
    text = ""
    for line in lines:
        text = text + "\n" + line if text else line
        if len(text) > enough:
            out.add(text, most)
            text = ""
    if len(text) >= fewest:
        out.add(text, most)


# ---- sources -------------------------------------------------------------------------------------
# Each function writes the files that it is called with.


def wikipedia_en(out):
    repository = "ZhouYii/PatchedDistro"
    files = [f for i, f in enumerate(listed(repository, r"^data/A[A-I]/wiki_")) if i % 40 < 12]
    for _, data in contents(repository, files):
        for article in re.findall(r"<doc [^>]*>\n(.*?)</doc>", decode(data), re.S):
            lines = re.sub(r"__[A-Z]+__\n?", "", article).strip().split("\n")
            t = "\n".join(l for l in lines[1:] if len(l.split()) > 6)  # neither title nor headings
            t = re.sub(r"\( ?[;,]? ?\)", "", t)
            if len(t) > 200:
                out.add(t, most=12000)


def wikipedia_simple(out):
    repository = "taminemelissa/quiz-generator"
    files = [f for i, f in enumerate(listed(repository, r"^data/wikipedia/A[A-Z]/wiki_")) if i % 20 < 9]
    for _, data in contents(repository, files):
        if out.full():
            break
        for line in decode(data).splitlines():
            t = html.unescape(json.loads(line)["text"])
            t = "\n".join(l for l in t.split("\n") if len(l.split()) > 4)
            t = re.sub(r"\( ?[;,]? ?\)", "", t)
            if len(t) > 120:
                out.add(t, most=12000)


def books(out):
    """Passages of each book, drawn at random."""
    draw = random.Random(2)
    for path, t in texts("mlschmitt/classic-books-markdown", r"\.md$"):
        if out.full():
            break
        if "README" in path:
            continue
        if "gutenberg" in t[:3000].lower():
            t = t[3000:]
        t = links(t[:len(t) - min(len(t) // 20, 20000)])
        t = re.sub(r"\[\^?\d+\]|\[\^[^\]]*\]:?", "", t)
        t = re.sub(r"(?m)^#+.*$", "", t)
        t = re.sub(r"(?m)^>\s?", "", re.sub(r"\*+|_{1,3}(?=\S)|(?<=\S)_{1,3}|\\", "", t))
        passages, passage, enough = [], "", 1500
        for p in re.split(r"\n\s*\n", t):
            p = re.sub(r"\s*\n\s*", " ", p).strip()
            if len(p) > 30:
                passage = passage + "\n" + p if passage else p
            if len(passage) > enough:
                passages.append(passage[:5000])
                passage, enough = "", draw.choice([300, 800, 1500, 2500])
        draw.shuffle(passages)
        taken = 0
        for p in passages:
            if taken > 66000:
                break
            if "gutenberg" not in p.lower() and out.add(p):
                taken += len(p)


def reddit(posts, titles):
    draw = random.Random(1)
    files = listed("umbrae/reddit-top-2.5-million", r"^data/.*\.csv$")
    draw.shuffle(files)
    for _, data in contents("umbrae/reddit-top-2.5-million", files):
        if posts.full():
            break
        entries = list(rows(decode(data)))
        draw.shuffle(entries)
        taken = of_titles = 0
        for entry in entries:
            t, title = entry.get("selftext") or "", html.unescape(entry.get("title") or "")
            if entry.get("over_18") == "True":
                continue
            if len(t) > 150 and taken < 45000:
                t = links(html.unescape(html.unescape(t)))
                t = re.sub(r"https?://\S+", "", t)
                t = re.sub(r"(?m)^\s*(#+|>|\*|-{3,}|\d+\.)\s*", "", t)
                t = re.sub(r"\*(\S[^*\n]*)\*", r"\1", re.sub(r"\*\*|__|~~|`|\^", "", t))
                t = re.sub(r"(?i)\b(edit|update) ?\d*:", " ", t)
                whole = (title + "\n" + t)[:3500]
                if len(t) > 120 and posts.add(whole):
                    taken += len(whole)
            elif of_titles < 60 and len(title) >= 40 and len(t) < 10:
                title = re.sub(r"^\s*\[[^\]]{0,20}\]\s*|\s*\[[^\]]{0,20}\]\s*$", "", title)
                of_titles += titles.add(title)


def tokens_joined(t):
    """Words of a treebank as a text."""
    t = re.sub(r"``|''", '"', t)
    t = re.sub(r"([(\[{$]) ", r"\1", re.sub(r" ([.,;:?!%)\]}])", r"\1", t))
    t = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m|')(?=\W|$)", r"\1", t)
    t = re.sub(r'" ([^"]{1,200}?) "', r'"\1"', t)
    if any(c.isupper() for c in t):
        return t
    t = re.sub(r"\bi\b", "I", t)
    return re.sub(r"(^|[.?!]\s+)([a-z])", lambda m: m.group(1) + m.group(2).upper(), t)


def amazon_multidomain(out):
    for _, t in texts("lorenzoritter/domainadaption", r"^sorted_data_acl/.*\.review$"):
        for review in re.findall(r"<review_text>\n(.*?)\n</review_text>", t, re.S):
            out.add(review.replace("\n\n", "\n"))
    for path, t in texts("ccsasuke/man", r"^data/fdu-mtl/"):
        if re.search(r"/(imdb|MR)\.", path):
            continue
        for line in t.splitlines():
            line = re.sub(r"^[01]\t", "", line)
            out.add(tokens_joined(line) if re.search(r" n't| 's|``| [.,] ", line) else line)


def hotel_reviews(out):
    draw = random.Random(3)
    files = listed("chelseanbr/between-the-lines", r"aws_final/.*\.csv$")
    draw.shuffle(files)
    taken = {}
    for path, data in contents("chelseanbr/between-the-lines", files):
        reviews, hotel = list(rows(decode(data))), path.split("/")[-1]
        draw.shuffle(reviews)
        for review in reviews:
            t = review.get("review_body") or ""
            if taken.get(hotel, 0) > 260000:
                break
            if out.add(t):
                taken[hotel] = taken.get(hotel, 0) + len(t)
        if out.full():
            break


def app_reviews(out):
    for _, t in texts("madan1718/Dataset_mobapp_review", r"csv$"):
        for row in csv.reader(io.StringIO(t.replace("\0", ""))):
            if row:
                out.add(max(row, key=len))


def skytrax(out):
    for _, t in texts("quankiquanki/skytrax-reviews-dataset", r"^data/(lounge|seat)\.csv$"):
        for row in rows(t):
            out.add(row["content"])


def steam(out):
    for _, t in texts("mulhod/steam_reviews", r"^data/Football_Manager_2015\.jsonlines$"):
        for line in t.splitlines():
            out.add(json.loads(line).get("review", ""))


def medquad(out):
    for _, t in texts("abachaa/MedQuAD", r"\.xml$"):
        if out.full():
            break
        for question, answer in re.findall(r"<Question[^>]*>(.*?)</Question>\s*<Answer>(.*?)</Answer>", t, re.S):
            answer = re.sub(r"[ \t]*\n\s*", "\n", re.sub(r"[ \t]+", " ", answer.strip()))
            if len(answer) > 20:
                out.add(re.sub(r"\s+", " ", question.strip()) + "\n" + answer, most=6000)


def scotus_opinions(out):
    seen = {}
    for path, blob in once("jeremybmerrill/scotuslm", COMMITS["jeremybmerrill/scotuslm"], "--", "opinions"):
        if path.endswith(".txt") and ".raw" not in path:
            seen.setdefault(path, blob)
    for _, data in contents("jeremybmerrill/scotuslm", seen.items()):
        text = ""
        for line in decode(data).split("\n"):
            line = line.strip()
            if len(line) < 80:
                continue
            text = text + "\n" + line if text else line
            while len(text) > 5000:
                end = text.rfind(". ", 0, 4000) + 1
                end = end if end > 501 else 4000
                out.add(text[:end])
                text = text[end:].strip()
            if len(text) > 1200:
                out.add(text)
                text = ""
        if len(text) > 200:
            out.add(text)
        if out.full():
            break


def pros_cons(out):
    for _, t in unzipped("pros_cons"):
        for line in t.splitlines():
            out.add(re.sub(r"</?(Pros|Cons|Labels?)[^>]*>", "", line).strip())


def news_abc(out):
    for _, t in unzipped("abc"):
        joined(out, filter(None, (line.strip() for line in t.split("\n"))), 900)


def webtext(out):
    for name, t in unzipped("webtext"):
        if "grail" not in name and "pirates" not in name:  # films
            for part in re.split(r"\n\s*\n" if "overheard" in name else r"\n", t):
                out.add(re.sub(r"\s*\n\s*", "\n", part))


def enron_mail(out):
    for _, t in texts("luikyv/email_classification", r"^enron1/ham/.*\.txt$"):
        lines = re.sub(r"^Subject: ?", "", t).split("\n")
        t = "\n".join(l for l in lines if not re.match(r"^\s*(-{3,}|to :|cc :|from :|sent :|subject :$)", l))
        t = re.sub(r"\( ", "(", re.sub(r" ([.,;:?!)'])", r"\1", t))
        out.add(re.sub(r"(\w)' (s|t|re|ll|ve|m|d)\b", r"\1'\2", t), most=4000)


def goemotions(out):
    for _, t in texts("monologg/GoEmotions-pytorch", r"^data/original/.*tsv$"):
        for line in t.split("\n"):
            out.add(line.split("\t")[0].replace("[NAME]", "John").replace("[RELIGION]", "Christian"))


def sgd_dialogues(out):
    """Some turns of a dialogue each."""
    draw = random.Random(7)
    for _, t in texts("google-research-datasets/dstc8-schema-guided-dialogue", r"^(train|dev|test)/dialogues_.*json$"):
        for dialogue in json.loads(t):
            turns = [turn["utterance"] for turn in dialogue["turns"]]
            while turns:
                n = draw.choice([1, 2, 2, 4, 6, 8])
                out.add("\n".join(turns[:n]))
                turns = turns[n:]


def opentriviaqa(out):
    for _, t in texts("uberspot/OpenTriviaQA", r"^categories/"):
        for block in re.split(r"\n\s*\n", t):
            m = re.match(r"#Q (.*?)\n\^ (.*?)(?:\n|$)", block.strip(), re.S)
            if m:
                question, answer = re.sub(r"\s+", " ", m.group(1)), m.group(2).strip()
                out.add(question if answer in ("True", "False") else question + " " + answer)


def wordnet_glosses(out):
    for kind in ("noun", "verb", "adj", "adv"):
        for line in open(os.path.join(WORDNET, "data." + kind), encoding="utf-8", errors="replace"):
            if line.startswith("  ") or "|" not in line:
                continue
            about, gloss = line.split("|", 1)
            fields = about.split()
            words = fields[4:4 + 2 * int(fields[3], 16):2]
            words = ", ".join(re.sub(r"\(\w+\)$", "", w).replace("_", " ") for w in words)
            out.add(words + ": " + gloss.strip())


def article(t):
    """An article in Markdown, without code, headings, links and what translators wrote."""
    t = t.replace("\r\n", "\n")
    t = re.sub(r"(?ms)^\s*```.*?^\s*```\s*$", "\n", t)
    t = re.sub(r"(?ms)^-{10,}\s*\nvia:.*\Z", "", t)
    t = re.sub(r"(?m)^\[#\]:.*$|^\s*\[[^\]]{1,40}\]: ?\S+.*$|^\[\d+\]:.*$", "", t)
    t = re.sub(r"!\[[^\]]*\](\[[^\]]*\]|\([^)]*\))", "", t)
    t = re.sub(r"https?://\S+", "", re.sub(r"\[([^\]]*)\](\[[^\]]*\]|\([^)]*\))", r"\1", t))
    t = re.sub(r"(?m)^(\t| {4,}).*$", "", t)
    t = re.sub(r"(?m)^\s*([=\-*_~]{3,}|#+.*|>\s*|\$ .*|# .*)$", "", t)
    t = re.sub(r"(?m)^\s*(>|\*|-|\+|\d+\.)\s+", "", t)
    t = re.sub(r"(?<!\w)[_*](\S[^_*\n]*)[_*](?!\w)", r"\1", re.sub(r"\*\*|__|`|~~", "", t))
    lines = []
    for line in map(str.strip, t.split("\n")):
        if not line:
            if lines and lines[-1]:
                lines.append("")
        elif (not re.search(r"[\u4e00-\u9fff]", line) and
              not re.match(r"(?i)^(translat|via:|author|image by|image credit|source:|\(to\)|published by)", line) and
              (len(line) >= 40 or line.endswith((".", "?", "!", ":"))) and
              sum(c.isalpha() or c == " " for c in line) >= 0.8 * len(line)):
            lines.append(line)
    return "\n".join(lines)


def tech(news, articles):
    """Articles as they were before their translation: as first added."""
    repository, seen = "LCTT/TranslateProject", {}
    for path, blob in once(repository, "--reverse", COMMITS[repository]):
        if path.startswith("sources/") and path.endswith(".md"):
            seen.setdefault(path.split("/")[-1], (path, blob))
    files = sorted(seen.values())
    random.Random(5).shuffle(files)
    for path, data in contents(repository, files):
        out = {"news": news, "talk": news, "share": news, "tech": articles}.get(path.split("/")[1])
        if out is None or out.full():
            continue
        t = article(decode(data))
        while len(t) > 200:
            end = len(t) if len(t) <= 6000 else t.rfind("\n", 1500, 5000)
            end = end if end > 0 else 5000
            out.add(t[:end])
            t = t[end:].strip()


SOURCES = [
    (amazon_multidomain, dict(amazon_multidomain=dict(least=30))),
    (app_reviews, dict(app_reviews=dict(least=14))),
    (books, dict(books=dict(least=200, megabytes=44))),
    (enron_mail, dict(enron_mail=dict(least=60))),
    (goemotions, dict(goemotions=dict(least=15, english=False))),
    (hotel_reviews, dict(hotel_reviews=dict(least=30, megabytes=45))),
    (medquad, dict(medquad=dict(megabytes=22))),
    (news_abc, dict(news_abc={})),
    (opentriviaqa, dict(opentriviaqa=dict(least=25, english=False))),
    (pros_cons, dict(pros_cons=dict(least=12, english=False))),
    (reddit, dict(reddit_posts=dict(least=120, megabytes=58), reddit_titles=dict(least=35))),
    (scotus_opinions, dict(scotus_opinions=dict(megabytes=20))),
    (sgd_dialogues, dict(sgd_dialogues=dict(least=25, megabytes=16))),
    (skytrax, dict(skytrax={})),
    (steam, dict(steam=dict(least=30))),
    (tech, dict(tech_news=dict(least=200, megabytes=20), tech_articles=dict(least=200, megabytes=30))),
    (webtext, dict(webtext=dict(least=25))),
    (wikipedia_en, dict(wikipedia_en=dict(megabytes=92))),
    (wikipedia_simple, dict(wikipedia_simple=dict(megabytes=62))),
    (wordnet_glosses, dict(wordnet_glosses=dict(least=20, english=False))),
]


def main():
    global WORK
    if len(sys.argv) < 3 or sys.argv[1] not in ("get", "text"):
        sys.exit("corpus.py: usage: corpus.py get|text WORK [NAME...]")
    what, WORK, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    csv.field_size_limit(10**9)
    os.makedirs(os.path.join(WORK, "text"), exist_ok=True)
    if what == "get":
        for repository in names or COMMITS:
            get(repository)
        return
    for extract, files in SOURCES:
        if not names or set(names) & set(files):
            outs = [Texts(name, **settings) for name, settings in files.items()]
            extract(*outs)
            for out in outs:
                out.close()


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError) as e:
        sys.exit(f"corpus.py: {e}")
