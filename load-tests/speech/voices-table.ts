/**
 * What `./starling load voices` measured, as the tables of docs/voices.md, and the quality that follows from it:
 *
 *   node load-tests/speech/voices-table.ts REPORT.json     writes them there
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Figure } from "../figures.ts"
import { pauseKinds, pauseMs } from "./pauses.ts"

export const voicesPage = join(import.meta.dirname, "../../docs/voices.md")

export interface Errors {
  /** In percent, at speed 1. */
  readonly words: number
  /** Undefined where no judge knows the language's phonemes: such a voice is clear at best. */
  readonly phonemes: number | undefined
}

/** The limits that docs/voices.md names. */
export const qualityOf = ({ words, phonemes }: Errors): "natural" | "clear" | "basic" => {
  if (words <= 5 && phonemes !== undefined && phonemes <= 5) return "natural"
  return words <= 12.5 && (phonemes ?? 0) <= 10 ? "clear" : "basic"
}

type Find = (name: string, speed?: number) => number | undefined

const written = (value: number | undefined, digits = 0) => (value === undefined ? "–" : value.toFixed(digits))

const qualityIn = (find: Find) =>
  qualityOf({ words: find("words heard wrongly") ?? 100, phonemes: find("phonemes heard wrongly") })

const heardRow = (id: string, language: string, find: Find, cost: number | undefined) => {
  const at = (name: string, digits: number) =>
    [1, 1.5, 2].map((speed) => written(find(name, speed), digits)).join(" · ")
  return [
    id,
    language,
    qualityIn(find),
    written(find("words read")),
    `${at("words heard wrongly", 1)} %`,
    language === "en" ? `${at("phonemes heard wrongly", 1)} %` : "–",
    written(find("words a minute")),
    `${written(find("first sound, p50"))} ms`,
    cost === undefined ? "–" : `${cost.toFixed(3)} s`
  ]
}

const pauseRow = (id: string, find: Find) => [
  id,
  ...pauseKinds.map((kind) => {
    const heard = find(`pause at a ${kind}, heard`)
    return heard === undefined ? "–" : `${written(heard)} · ${written(find(`pause at a ${kind}, by the marks`))}`
  })
]

const startRow = (id: string, find: Find) => {
  const [p50, p90] = [find("start of words beyond that, p50"), find("start of words beyond that, p90")]
  return p50 === undefined
    ? []
    : [[id, written(find("words whose start was heard")), `${written(p50)} ms`, `${written(p90)} ms`]]
}

const tableOf = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

export const tablesOf = (figures: ReadonlyArray<Figure>): string => {
  const valueOf = (scenario: string, name: string) =>
    figures.find((figure) => figure.scenario === scenario && figure.name === name)?.value
  const judged = [...new Set(figures.map(({ scenario }) => /^(.+), (..), speed 1$/u.exec(scenario)?.[0] ?? ""))]
    .filter((scenario) => scenario !== "")
    .map((scenario) => {
      const [id = "", language = ""] = scenario.split(", ")
      const find: Find = (name, speed = 1) => valueOf(`${id}, ${language}, speed ${speed}`, name)
      return { id, language, find, cost: valueOf(`engine of ${id}`, "processor seconds for a second of speech") }
    })
  const load = figures.find(({ name }) => name === "load average before it")?.value
  const wanted = ["asked for", ...pauseKinds.map((kind) => `${pauseMs[kind] ?? ""}`)]
  return [
    tableOf(
      [
        "voice",
        "language",
        "quality",
        "words read",
        "words heard wrongly, at speed 1 · 1.5 · 2",
        "phonemes heard wrongly",
        "words a minute",
        "first sound",
        "processor for a second"
      ],
      judged.map(({ id, language, find, cost }) => heardRow(id, language, find, cost))
    ),
    `The machine had a load of ${written(load, 1)}, which first sounds wait for. Pauses in milliseconds, the median of those heard · of those by the marks:`,
    tableOf(["voice", ...pauseKinds], [wanted, ...judged.map(({ id, find }) => pauseRow(id, find))]),
    "How far marks are from where hama hears words begin, beyond its own delay:",
    tableOf(
      ["voice", "words", "p50", "p90"],
      judged.flatMap(({ id, find }) => startRow(id, find))
    )
  ].join("\n\n")
}

const [begin, end] = ["<!-- measured: dev/voices.sh -->", "<!-- measured until here -->"]

/** The page with other tables between its two marks. */
export const pageWith = (page: string, tables: string): string => {
  const [before, after] = [page.indexOf(begin), page.indexOf(end)]
  if (before < 0 || after < before) throw new Error(`${voicesPage} lacks the lines ${begin} and ${end}`)
  return `${page.slice(0, before)}${begin}\n\n${tables}\n\n${page.slice(after)}`
}

if (process.argv[1] === import.meta.filename) {
  const { figures } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as {
    readonly figures: ReadonlyArray<Figure>
  }
  writeFileSync(voicesPage, pageWith(readFileSync(voicesPage, "utf8"), tablesOf(figures)))
}
