/** The one program: every command and every role. What it runs is loaded when it is asked for. */
import { didYouMean } from "./commands/near-names.ts"

const commands: Record<string, { readonly help: string; readonly run: (rest: Array<string>) => Promise<unknown> }> = {
  up: {
    help: "start the whole fleet on this machine [--ready-json]",
    run: async (rest) => (await import("./commands/up.ts")).up(rest)
  },
  role: {
    help: "run roles in this process, on a broker elsewhere: role <name>...",
    run: async (rest) => (await import("./commands/role.ts")).role(rest)
  },
  publish: {
    help: "publish an event or report: publish <event> | report <kind> --file F | --example [--count N] [--unchecked]",
    run: async (rest) => (await import("./commands/publish.ts")).publish(rest)
  },
  runner: {
    help: "take work items through their phases on git repositories [--agent K] [--at-once N] [--forge URL] ...",
    run: async (rest) => (await import("../../dev/runner/main.ts")).runner(rest)
  },
  say: {
    help: 'speak: say "text" | --file F | - [-o file.mp3] [--voice V|list] [--marks[=json]] [--format F]',
    run: async (rest) => (await import("./commands/say.ts")).say(rest)
  },
  pay: {
    help: 'pay for a model call: pay "prompt" [--model M] [--chain evm|solana] [--max-usd N] [--key-env V] [--json]',
    run: async (rest) => (await import("./commands/pay.ts")).pay(rest)
  },
  tail: {
    help: "watch events, or what was sent: tail [pattern...] [--attempts] [--last N [--follow]] [--json]",
    run: async (rest) => (await import("./commands/tail.ts")).tail(rest)
  },
  top: {
    help: "watch the fleet: roles, backlogs, breakers, streams, latencies [--once] [--json] [--interval S] [--url U]...",
    run: async (rest) => (await import("./commands/top.ts")).top(rest)
  },
  endpoints: {
    help: "endpoints list | pause <name> [--reason R] | resume <name>",
    run: async (rest) => (await import("./commands/endpoints.ts")).endpoints(rest)
  },
  redrive: {
    help: "send abandoned deliveries again: redrive --endpoint E | --event P | --all [--since T] [--until T]",
    run: async (rest) => (await import("./commands/redrive.ts")).redrive(rest)
  },
  token: {
    help: "bearer tokens: token make [--label L] [--expires 30d] [--role R] [--scope S] ... | list | revoke <id>",
    run: async (rest) => (await import("./commands/token.ts")).token(rest)
  },
  consents: {
    help: "who agreed to have a voice cloned: consents [--workspace W] [--json] | get <voice id> --out F",
    run: async (rest) => (await import("./commands/consents.ts")).consents(rest)
  },
  broker: {
    help: "make a broker of one machine ready that up does not start: broker users <folder> | streams",
    run: async (rest) => (await import("./commands/broker.ts")).broker(rest)
  },
  topology: {
    help: "print streams and buckets of the bus",
    run: async (rest) => isBare("topology", rest) && (await import("./commands/docs.ts")).printTopology()
  },
  docs: {
    help: "write the generated documents below docs/",
    run: async (rest) => isBare("docs", rest) && (await import("./commands/docs.ts")).docs()
  }
}

/** Whether a command that takes nothing was given nothing. */
const isBare = (verb: string, rest: ReadonlyArray<string>) => {
  if (rest.length === 0) return true
  process.stderr.write(`starling: ${verb} takes nothing, but was given ${rest.join(" ")}\n`)
  process.exitCode = 2
  return false
}

const [name = "help", ...rest] = process.argv.slice(2)
const command = Object.hasOwn(commands, name) ? commands[name] : undefined
if (command !== undefined) await command.run(rest)
else {
  const isHelp = name === "help" || name === "--help"
  const lines = Object.entries(commands).map(([verb, { help }]) => `  ${verb.padEnd(10)} ${help}`)
  const text = [
    "usage: ./starling <command>",
    "",
    ...lines,
    "  test       run every test",
    "  check      types, lint, format and unit tests",
    "  load       measure on this machine: load <scenario> [part...]; without a word, the list of them",
    ""
  ].join("\n")
  if (isHelp) process.stdout.write(`${text}\n`)
  else {
    const known = [...Object.keys(commands), "test", "check", "load"]
    process.stderr.write(`starling: there is no command ${name}${didYouMean(name, known)}\n\n${text}\n`)
  }
  process.exitCode = isHelp ? 0 : 2
}
