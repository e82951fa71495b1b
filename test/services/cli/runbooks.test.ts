import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Completions } from "effect/cli"
import { starling } from "../../../services/cli/documents.ts"

const page = readFileSync("docs/runbooks.md", "utf8")
const runbooks = page
  .split("\n### ")
  .slice(1)
  .map((text) => {
    const [name = "", ...lines] = text.split("\n")
    const body = lines.join("\n").split("\n## ")[0] ?? ""
    return { name, commands: [...body.matchAll(/`\.\/(starling [^`]+)`/gu)].map(([, command]) => command ?? "") }
  })

const root = Completions.fromCommand(starling)

/** The command that a line runs, and the flags that are none of it. */
const parsed = (line: string) => {
  const [, ...words] = line.split(" ")
  let command = root
  let flags = root.flags
  while (true) {
    const next = command.subcommands.find(({ name }) => name === words[0])
    if (next === undefined) break
    command = next
    flags = [...flags, ...command.flags]
    words.shift()
  }
  const known = new Set(flags.map(({ name }) => `--${name}`))
  const aliases = new Set(flags.flatMap((flag) => flag.aliases.map((alias) => alias)))
  const unknown = words.filter(
    (word) =>
      (word.startsWith("--") && !known.has(word)) ||
      (/^-[a-z]$/u.test(word) && !aliases.has(word.slice(1)) && !aliases.has(word))
  )
  return { command: command.name, isGroup: command.subcommands.length > 0 && command.arguments.length === 0, unknown }
}

// The commands of these runbooks belong to the payment books.
const isPaymentAlert = (name: string) => /^(?:Payment|Gateway)/u.test(name)

describe("a runbook", () => {
  it("is found on the page", () => {
    assert.isAbove(runbooks.length, 40)
  })

  it.each(runbooks.filter(({ name }) => !isPaymentAlert(name)))("names a command to run: $name", ({ commands }) => {
    assert.isAbove(commands.length, 0)
  })

  it.each(runbooks.flatMap(({ name, commands }) => commands.map((command) => ({ name, command }))))(
    "of $name names a command and flags that there are: $command",
    ({ command }) => {
      const { command: name, isGroup, unknown } = parsed(command)
      assert.notStrictEqual(name, root.name, command)
      assert.isFalse(isGroup, `${command} is no whole command`)
      assert.deepStrictEqual(unknown, [])
    }
  )
})
