/**
 * A lexicon: words, and how to speak them. It is a document of W3C's Pronunciation Lexicon Specification 1.0 or a plain
 * list, a line for each word: `SQL = sequel`, or `Nguyen /ŋwiən/`. Read strictly: every fault is reported with its
 * position. Pure.
 */
import { Result } from "effect"
import { SaxesParser, type SaxesTagPlain } from "saxes"
import type { Lexeme } from "#speech/contract"
import { lexemeOf, type Lexicon, lexiconLimits, type LexiconRead } from "./lexeme.ts"

/** The elements allowed within each element. A lexicon's metadata is skipped. */
const children: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": ["lexicon"],
  lexicon: ["meta", "metadata", "lexeme"],
  lexeme: ["grapheme", "phoneme", "alias", "example"]
}
const readOver = new Set(["meta", "metadata", "example"])
const texts = new Set(["grapheme", "phoneme", "alias"])
const depthMax = 20

type Attributes = Readonly<Record<string, string>>

interface Way {
  readonly kind: "alias" | "phoneme"
  readonly text: string
  readonly alphabet: string
  readonly isPreferred: boolean
}

export const readPls = (text: string): LexiconRead => {
  const reading = new PlsReading()
  const parsed = Result.try(() => reading.parse(text))
  if (Result.isFailure(parsed)) {
    const { failure } = parsed
    reading.refuse(`not well-formed XML: ${failure instanceof Error ? failure.message : "cannot be read"}`)
  }
  if (reading.faults.length > 0) return Result.fail(reading.faults)
  const { language, lexemes } = reading
  return Result.succeed({ format: "pls", lexemes, ...(language === "" ? {} : { language }) })
}

class PlsReading {
  readonly faults: Array<string> = []
  readonly lexemes: Array<Lexeme> = []
  language = ""
  private readonly parser = new SaxesParser({ position: true })
  private readonly path: Array<string> = []
  private alphabet = ""
  private graphemes: Array<string> = []
  private ways: Array<Way> = []
  private attributes: Attributes = {}
  private text = ""

  refuse(message: string) {
    if (this.faults.length < lexiconLimits.faultsMax) this.faults.push(`line ${this.parser.line}: ${message}`)
  }

  parse(text: string) {
    const { parser } = this
    parser.on("doctype", () => this.refuse("a document type is not allowed"))
    parser.on("processinginstruction", () => this.refuse("a processing instruction is not allowed"))
    parser.on("text", (piece) => this.content(piece))
    parser.on("cdata", (piece) => this.content(piece))
    // Without namespaces a tag is always a plain one.
    parser.on("opentag", (tag) => this.open(tag as SaxesTagPlain))
    parser.on("closetag", (tag) => this.close(tag.name))
    parser.write(text.replace(/^[\s\ufeff]+/u, ""))
    parser.close()
  }

  private isReadOver() {
    return this.path.some((name) => readOver.has(name))
  }

  private open({ name, attributes }: SaxesTagPlain) {
    const parent = this.path.at(-1) ?? ""
    const isReadOver = this.isReadOver()
    this.path.push(name)
    if (this.path.length > depthMax) throw new Error(`elements are nested deeper than ${depthMax}`)
    if (isReadOver) return
    if (!(children[parent] ?? []).includes(name)) {
      return this.refuse(`<${name.slice(0, 40)}> is no element ${parent === "" ? "of a lexicon" : `of <${parent}>`}`)
    }
    this.attributes = attributes
    this.text = ""
    if (name === "lexicon") {
      this.alphabet = attributes["alphabet"] ?? ""
      this.language = attributes["xml:lang"] ?? ""
      if (this.language !== "" && !/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/u.test(this.language)) {
        this.refuse(`xml:lang "${this.language.slice(0, 40)}" is no language`)
      }
    }
    if (name === "lexeme") [this.graphemes, this.ways] = [[], []]
  }

  private content(piece: string) {
    const name = this.path.at(-1) ?? ""
    if (this.isReadOver()) return
    if (texts.has(name)) this.text += piece
    else if (piece.trim() !== "") this.refuse(`<${name}> holds no text`)
  }

  private close(name: string) {
    const isReadOver = this.isReadOver()
    this.path.pop()
    if (isReadOver) return
    if (name === "grapheme") this.graphemes.push(this.text)
    if (name === "alias" || name === "phoneme") {
      const { alphabet = this.alphabet || "ipa", prefer } = this.attributes
      this.ways.push({ kind: name, text: this.text, alphabet, isPreferred: prefer === "true" })
    }
    if (name === "lexeme") this.lexeme()
  }

  private lexeme() {
    const { graphemes, ways } = this
    const way = ways.find(({ isPreferred }) => isPreferred) ?? ways[0]
    if (graphemes.length === 0) return this.refuse("<lexeme> has no grapheme")
    if (way === undefined) return this.refuse("<lexeme> has neither an alias nor a phoneme")
    const alias = way.kind === "alias" ? way : ways.find(({ kind }) => kind === "alias")
    const spoken = {
      ...(alias === undefined ? {} : { alias: alias.text }),
      ...(way.kind === "alias" ? {} : { phonemes: { ph: way.text, alphabet: way.alphabet } })
    }
    for (const grapheme of graphemes) {
      const read = lexemeOf(grapheme, spoken)
      if (Result.isSuccess(read)) this.lexemes.push(read.success)
      else this.refuse(read.failure)
    }
  }
}

export const readLexicon = (text: string): LexiconRead => {
  if (text.length > lexiconLimits.charactersMax) {
    return Result.fail([`it has ${text.length} characters, at most ${lexiconLimits.charactersMax} are taken`])
  }
  if (!text.isWellFormed()) return Result.fail(["half a surrogate pair is not a character"])
  const read = /^[\s\ufeff]*</u.test(text) ? readPls(text) : readList(text)
  return Result.flatMap(read, checked)
}

const checked = (lexicon: Lexicon): LexiconRead => {
  const { length } = lexicon.lexemes
  if (length === 0) return Result.fail(["it has no words"])
  if (length > lexiconLimits.entriesMax) {
    return Result.fail([`it has ${length} spellings of words, at most ${lexiconLimits.entriesMax} are taken`])
  }
  // Of two entries for a word the first counts, as in PLS.
  const first = new Map(lexicon.lexemes.toReversed().map((lexeme) => [lexeme.grapheme, lexeme]))
  return Result.succeed({ ...lexicon, lexemes: lexicon.lexemes.filter((one) => first.get(one.grapheme) === one) })
}

const readList = (text: string): LexiconRead => {
  const lexemes: Array<Lexeme> = []
  const faults: Array<string> = []
  for (const [at, line] of text
    .replace(/^\ufeff/u, "")
    .split(/\r\n|[\n\r]/u)
    .entries()) {
    if (/^\s*(?:#|$)/u.test(line)) continue
    const read = readLine(line.trim())
    if (Result.isSuccess(read)) lexemes.push(read.success)
    else if (faults.length < lexiconLimits.faultsMax) faults.push(`line ${at + 1}: ${read.failure}`)
  }
  return faults.length > 0 ? Result.fail(faults) : Result.succeed({ format: "list", lexemes })
}

const readLine = (line: string): Result.Result<Lexeme, string> => {
  const slash = line.endsWith("/") ? line.lastIndexOf("/", line.length - 2) : -1
  if (slash !== -1 && slash < line.length - 1) {
    return lexemeOf(line.slice(0, slash), { phonemes: { ph: line.slice(slash + 1, -1), alphabet: "ipa" } })
  }
  const at = line.indexOf("=")
  if (at === -1) return Result.fail("neither `word = alias` nor `word /ipa/`")
  return lexemeOf(line.slice(0, at), { alias: line.slice(at + 1) })
}
