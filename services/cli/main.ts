/** The one program: every command and every role. A command's code is loaded only when it runs. */
import manifest from "../../package.json" with { type: "json" }

const [first, ...rest] = process.argv.slice(2)

// The version alone loads nothing else.
if (rest.length === 0 && (first === "--version" || first === "-v"))
  process.stdout.write(`starling ${manifest.version}\n`)
else if (first === "--names") await (await import("./names.ts")).printNames(rest[0])
else {
  const { runCommandLine } = await import("./run.ts")
  runCommandLine(asked(first, rest), manifest.version)
}

/** `help`, or no word at all, requests help; `help token` requests the help of a command. */
function asked(name: string | undefined, more: ReadonlyArray<string>): ReadonlyArray<string> {
  if (name === undefined) return ["--help"]
  return name === "help" ? [...more, "--help"] : [name, ...more]
}
