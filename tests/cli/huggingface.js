// huggingface.js - compares encodings with those of Hugging Face's own library.
//
// usage: node huggingface.js TOKENIZER.json <records.jsonl
//        where the records come from ran-tokenize encode, with "text" and "encoding"
//
// Writes {"texts", "ids", "offsets"}: how many texts there were, and in how many of them ids, or
// offsets where ids are the same, differ; the first few of these go to standard error. Two ways to
// say the same are no difference: white space at the ends of byte pairs, and a mark that was joined
// with the letter before it, are part of a piece for one and not for the other; and the space that is
// put in front of a text stands at its first character, or nowhere.
const { Tokenizer } = require('tokenizers')
const lines = require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity })

const differ = (a, b) => JSON.stringify(a) !== JSON.stringify(b)

const core = (points, [start, end]) => {
  const is = (at, what) => what.test(points[at])
  while (start < end && is(start, /^[\s\u0085]$/u)) start++
  while (end > start && is(end - 1, /^[\s\u0085\p{M}]$/u)) end--
  return [start, end]
}

// The first offset that differs, or -1.
const otherOffset = (text, pieces, a, b) => {
  const points = Array.from(text)
  return a.findIndex((offset, i) => differ(offset, b[i]) && pieces[i] !== '▁' &&
    differ(core(points, offset), core(points, b[i])))
}

async function main() {
  const tokenizer = Tokenizer.fromFile(process.argv[2])
  const count = { texts: 0, ids: 0, offsets: 0 }
  for await (const line of lines) {
    const record = JSON.parse(line)
    if (record.encoding === undefined) continue // no token: an error here, an empty list there
    const theirs = await tokenizer.encode(record.text, null, { addSpecialTokens: false })
    const what = differ(theirs.getIds(), record.encoding.ids) ? 'ids'
      : otherOffset(record.text, theirs.getTokens(), theirs.getOffsets(), record.encoding.offsets) >= 0 ? 'offsets' : null
    count.texts++
    if (what === null) continue
    if (++count[what] > 5) continue
    const [a, b] = what === 'ids' ? [theirs.getIds(), record.encoding.ids]
      : [theirs.getOffsets(), record.encoding.offsets]
    const at = what === 'ids' ? a.findIndex((x, i) => x !== b[i]) : otherOffset(record.text, theirs.getTokens(), a, b)
    console.error(`${what} of ${JSON.stringify(record.text).slice(0, 200)}, from ${at}: ` +
      `${JSON.stringify(a.slice(at, at + 5))} there, ${JSON.stringify(b.slice(at, at + 5))} here; ` +
      `pieces ${JSON.stringify(theirs.getTokens().slice(at, at + 5))} there`)
  }
  console.log(JSON.stringify(count))
}

main().catch((error) => {
  console.error(String(error))
  process.exit(1)
})
