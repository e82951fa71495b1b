/** The one program: every command and every role. What a command runs is loaded when it is asked for. */
import manifest from "../../package.json" with { type: "json" }

const [first, ...rest] = process.argv.slice(2)

// The version alone loads nothing else.
if (rest.length === 0 && (first === "--version" || first === "-v"))
  process.stdout.write(`starling ${manifest.version}\n`)
else {
  const { runCommandLine } = await import("./run.ts")
  runCommandLine(asked(first, rest), manifest.version)
}

/** `help` and nothing at all ask for help, `help token` for that of a command. */
function asked(name: string | undefined, more: ReadonlyArray<string>): ReadonlyArray<string> {
  if (name === undefined) return ["--help"]
  return name === "help" ? [...more, "--help"] : [name, ...more]
}
