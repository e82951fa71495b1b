import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Completions } from "effect/cli"
import { roleNames, workItemPhases } from "#contracts"
import { roles } from "../../../services/cli/commands/fleet.ts"
import { phases } from "../../../services/cli/commands/hosting.ts"
import { commandPaths, helpOf } from "../../../services/cli/documents.ts"
import { starling } from "../../../services/cli/starling.ts"

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
    const houses = ["docs", "topology", "broker", "check"]
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
})
