import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Completions } from "effect/cli"
import { roleNames } from "#base"
import { workItemPhases } from "#pipeline/contract"
import { roles } from "../../../services/cli/commands/fleet.ts"
import { askingScript } from "../../../services/cli/completions.ts"
import { endpointMark } from "../../../services/cli/flags.ts"
import { phases } from "../../../services/cli/commands/hosting.ts"
import { commandPaths, helpOf, starling } from "../../../services/cli/documents.ts"

const descriptor = Completions.fromCommand(starling)

const flagsOf = (command: Completions.CommandDescriptor): ReadonlyArray<string> => [
  ...command.flags.map(({ name }) => name),
  ...command.subcommands.flatMap(flagsOf)
]

describe("a command", () => {
  it.effect.each(commandPaths().map((path) => ({ path, name: path.join(" ") })))("$name prints its help", ({ path }) =>
    Effect.gen(function* () {
      const help = yield* helpOf(path)
      assert.include(help, `starling ${path.join(" ")}`)
      assert.match(help, /DESCRIPTION\n {2}\S/u)
    })
  )

  it("describes every flag and argument", () => {
    const silent = (command: Completions.CommandDescriptor): ReadonlyArray<string> => [
      ...(command.description === undefined || command.description === "" ? [command.name] : []),
      ...[...command.flags, ...command.arguments]
        .filter(({ description }) => description === undefined || description === "")
        .map(({ name }) => `${command.name} ${name}`),
      ...command.subcommands.flatMap(silent)
    ]
    assert.deepStrictEqual(descriptor.subcommands.flatMap(silent), [])
  })

  it("is named in the README, the tour or the operator's pages, or is internal", () => {
    const pages = ["README.md", "docs/tour.md", "docs/operations.md"]
      .map((page) => readFileSync(page, "utf8"))
      .join("\n")
    const houses = ["docs", "topology", "broker", "check", "mutants"]
    const unnamed = descriptor.subcommands.map(({ name }) => name).filter((name) => !pages.includes(`starling ${name}`))
    assert.deepStrictEqual(
      unnamed.filter((name) => !houses.includes(name)),
      []
    )
  })

  it("knows every role and every phase", () => {
    assert.deepStrictEqual([...roles], [...roleNames])
    assert.deepStrictEqual([...phases], [...workItemPhases])
  })
})

describe("the completions", () => {
  it.each(["bash", "zsh", "fish"] as const)("of %s know every command and every flag", (shell) => {
    const script = Completions.generate("starling", shell, descriptor)
    for (const path of commandPaths()) assert.include(script, path.at(-1) ?? "", path.join(" "))
    for (const flag of flagsOf(descriptor)) assert.include(script, flag)
  })

  it.each([
    ["bash", `choices "$cur" '${endpointMark}'`, `choices "$cur" $(_starling--names endpoint)`],
    ["zsh", `':name:(${endpointMark})'`, "':name:{_starling_names endpoint}'"],
    ["fish", `-a '${endpointMark}'`, "-a '(_starling_names endpoint)'"],
    ["powershell", `@('${endpointMark}')`, "@()"]
  ] as const)("of %s have the request for endpoints in place of %s", (shell, generated, asked) => {
    assert.include(askingScript(shell, `# head\n${generated}`), asked)
  })
})

/** The words of each `./starling ...` in the code of a page, up to what the shell makes of the rest. */
const examplesIn = (page: string): ReadonlyArray<string> => {
  const text = readFileSync(page, "utf8")
  const fenced = [...text.matchAll(/^```[a-z]*\n(.*?)^```/gmsu)].map(([, block = ""]) => block)
  const indented = [...text.replaceAll(/^```[a-z]*\n.*?^```/gmsu, "").matchAll(/^ {4}.*$/gmu)].map(([line]) => line)
  const code = [...fenced, ...indented]
  return code.flatMap((text) =>
    [...text.matchAll(/\.\/starling ([a-z][^\n]*)/gu)].map(
      ([, rest = ""]) => rest.split(/ [#|>&]|\$\(|\)| \\$/u)[0] ?? ""
    )
  )
}

/** Why the example would not be understood; undefined for a good one. */
const misunderstood = (example: string): string | undefined => {
  // What is quoted is text, not a word of the command line.
  const words = example.replaceAll(/"[^"]*"|'[^']*'/gu, "text").split(/ +/u)
  let command: Completions.CommandDescriptor = descriptor
  const known = new Set(["help", "version", "completions"])
  for (const word of words) {
    const next = command.subcommands.find(({ name }) => name === word)
    if (next !== undefined) command = next
    for (const { name } of command.flags) known.add(name)
    const flag = /^--([a-z][a-z-]*)/u.exec(word)?.[1]
    if (flag !== undefined && !known.has(flag)) return `${command.name} has no --${flag}: ./starling ${example}`
  }
  return command === descriptor ? `no such command: ./starling ${example}` : undefined
}

describe("the pages", () => {
  const pages = ["README.md", "CONTRIBUTING.md", ...globSync("{docs,deploy,dev,load-tests}/**/*.md")].filter(
    (page) => page !== "docs/commands.md"
  )

  it.each(pages.filter((page) => examplesIn(page).length > 0))("of %s show commands and flags that exist", (page) => {
    const wrong = examplesIn(page).flatMap((example) => misunderstood(example) ?? [])
    assert.deepStrictEqual(wrong, [])
  })

  it("would be found out with a command or a flag that does not exist", () => {
    assert.isDefined(misunderstood("endpoint list"))
    assert.isDefined(misunderstood("endpoints list --nonesuch"))
    assert.isUndefined(misunderstood('say "Hello --there." --marks=json'))
  })
})
