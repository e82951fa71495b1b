/** The generated documents, and the declared topology of the bus. A test fails when a document is stale. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"
import { topology, topologyDocument } from "#bus"
import { generatedDocuments } from "#fleet/documents"
import { exitCodes, print } from "./console.ts"
import { Completions } from "effect/cli"
import { helpText, interpret } from "./run.ts"
import { starlingWith } from "./run.ts"
import { operatorsFor } from "./operators.ts"

/** The documents of the contracts and the roles, the page of commands, and those with code to copy. */
export const allDocuments = Effect.suspend(() =>
  Effect.map(Effect.all([commandsPage, verifyingPage, verifySources, publishingPage, payingPage]), (pages) => [
    ...generatedDocuments(),
    ...pages
  ])
)

export const writeDocuments: Effect.Effect<void, unknown> = Effect.gen(function* () {
  const documents = yield* allDocuments
  const wanted = new Set(documents.map(({ path }) => path))
  const present = yield* Effect.promise(() => readdir("docs/events").catch(() => []))
  const stale = present.map((name) => `docs/events/${name}`).filter((path) => !wanted.has(path))
  yield* Effect.forEach(stale, (path) => Effect.promise(() => rm(path)))
  yield* Effect.forEach(documents, ({ path, content }) =>
    Effect.promise(async () => {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content)
    })
  )
  yield* print(`wrote ${documents.length} documents`)
})

export const printTopology = print(topologyDocument(topology))

/** The complete tree. */
export const starling = starlingWith(await operatorsFor(() => true))

/** Each command's path: `["token", "make"]`. */
export const commandPaths = (): ReadonlyArray<ReadonlyArray<string>> =>
  pathsBelow(Completions.fromCommand(starling), [])

const pathsBelow = (
  { subcommands }: Completions.CommandDescriptor,
  path: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> =>
  subcommands.flatMap((command) => {
    const own = [...path, command.name]
    return [own, ...pathsBelow(command, own)]
  })

/** The text that `--help` prints. */
export const helpOf = (path: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    let text = ""
    yield* interpret([...path, "--help"], {
      version: "",
      presenter: {
        present: (event) => Effect.sync(() => void (text = event._tag === "Help" ? helpText(event.helpDoc, false) : ""))
      }
    })
    return text
  })

const commandsPage = Effect.gen(function* () {
  const sections = yield* Effect.forEach(commandPaths(), (path) =>
    Effect.map(helpOf(path), (help) => `## ${path.join(" ")}\n\n${fenced(help)}`)
  )
  const root = fenced(yield* helpOf([]))
  return { path: "docs/commands.md", content: `${[head, root, ...sections].join("\n\n")}\n` }
})

const fenced = (text: string, language = "text") => `\`\`\`${language}\n${text.trim()}\n\`\`\``

/** The code by which receivers verify webhooks, copied from its files; a test runs each. */
export const verifyingFiles = [
  { language: "TypeScript", fence: "ts", path: "libs/webhooks/contract/signature.ts" },
  { language: "Python", fence: "python", path: "dev/examples/verify/verify.py" },
  { language: "Go", fence: "go", path: "dev/examples/verify/verify.go" },
  { language: "Ruby", fence: "ruby", path: "dev/examples/verify/verify.rb" },
  { language: "Java", fence: "java", path: "dev/examples/verify/Webhook.java" },
  { language: "PHP", fence: "php", path: "dev/examples/verify/verify.php" }
] as const

/** A page of unmodified files, each below its title. */
const pageOfFiles = (
  page: { readonly path: string; readonly head: string },
  files: ReadonlyArray<{ readonly title: string; readonly fence: string; readonly path: string }>
) =>
  Effect.forEach(files, ({ title, fence, path }) =>
    Effect.map(
      Effect.promise(() => readFile(path, "utf8")),
      (code) => `## ${title}\n\n${fenced(code, fence)}`
    )
  ).pipe(Effect.map((sections) => ({ path: page.path, content: `${[page.head, ...sections].join("\n\n")}\n` })))

const verifyingPage = Effect.suspend(() =>
  pageOfFiles(
    { path: "docs/verify-webhooks.md", head: verifyingHead },
    verifyingFiles.map(({ language, ...file }) => ({ title: language, ...file }))
  )
)

/** The same code for `types export`, which runs where these files are not. */
const verifySources = Effect.promise(async () => {
  const [typescript, python] = await Promise.all([
    readFile("libs/webhooks/contract/signature.ts", "utf8"),
    readFile("dev/examples/verify/verify.py", "utf8")
  ])
  const content = `${JSON.stringify({ typescript, python }, null, 2)}\n`
  return { path: "services/cli/export/verify.json", content }
})

const verifyingHead = `# Verifying a webhook

Made from the files in \`dev/examples/verify\` and [webhook-signature.ts](../libs/webhooks/contract/signature.ts) by \`./starling docs\`.
Copy the one in your language: it needs nothing but the standard library.

Each takes the secret, the request's headers with names in lower case, the body's bytes exactly as they came, and the time. It
verifies the three headers of [Standard Webhooks](https://www.standardwebhooks.com):

- \`webhook-id\`: the delivery. The same delivery may come twice; drop the second.
- \`webhook-timestamp\`: when it was sent, in epoch seconds. A request that is more than five minutes old, or so far ahead, is refused.
- \`webhook-signature\`: \`v1,\` and the base64 of HMAC-SHA256 over \`<id>.<timestamp>.<body>\`. While a secret is rotated there is one
  by each secret, with a space between them; one that fits is enough. They are compared in constant time.

A secret that begins with \`whsec_\` is the base64 of a key of 24 to 64 bytes; any other is the key itself, of 16 bytes or more. By
anything else, such as \`v1,whsec_\` or a base64 with a line break, nothing verifies: it is no key, or one that can be guessed. Verify
before you parse, and answer 2xx only to what verifies.`

/** Programs that publish an event, copied from their files; a test runs each. */
export const publishingFiles = [
  { title: "TypeScript", fence: "ts", path: "dev/examples/publish/publish.ts" },
  { title: "Go", fence: "go", path: "dev/examples/publish/publish.go" },
  { title: "Python", fence: "python", path: "dev/examples/publish/publish.py" },
  { title: "Java", fence: "java", path: "dev/examples/publish/Publish.java" },
  { title: "Rust", fence: "rust", path: "dev/examples/publish/publish.rs" },
  { title: "The nats CLI", fence: "sh", path: "dev/examples/publish/nats.sh" },
  { title: "curl", fence: "sh", path: "dev/examples/publish/curl.sh" }
] as const

const publishingPage = Effect.suspend(() =>
  pageOfFiles({ path: "docs/publish-events.md", head: publishingHead }, publishingFiles)
)

const publishingHead = `# Programs that publish

Made from the files in \`dev/examples/publish\` by \`./starling docs\`; a test runs each with the newest client. [events.md](events.md) says what the answers mean.

Each publishes an event of the type \`order.created\`, the same again, and one whose details break the type's schema. Those that speak
NATS then read on from the first one's place. The type, in \`starling.config.json\`:

\`\`\`json
{
  "Events": {
    "Types": [
      {
        "Name": "order.created",
        "Owners": ["internal-services", "token:shop"],
        "Schema": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } }
      }
    ]
  }
}
\`\`\`

\`\`\`
stored as 12
stored as 12, a duplicate
refused: /details/id Expected \`1\` (number) to be of type \`string\`
read 12 events-from.internal-services.order.created
\`\`\`

| language | packages |
| --- | --- |
| TypeScript | \`@nats-io/transport-node\`, \`@nats-io/jetstream\` |
| Go | \`github.com/nats-io/nats.go\`, \`github.com/nats-io/nuid\`, \`github.com/synadia-io/orbit.go/jetstreamext\` |
| Python | \`nats-py\` |
| Java | \`io.nats:jnats\` |
| Rust | \`async-nats\`, \`nuid\`, \`chrono\`, \`serde_json\`, \`tokio\` with the features \`macros\` and \`rt\` |

\`./starling up\` prints the broker's address and the password of \`internal-services\`: they go into \`NATS_URL\` and \`NATS_PASSWORD\`. curl wants a
token: \`export TOKEN=$(./starling token make --label shop --kind service --scope events:publish)\`.`

/** Clients that pay by x402, copied from their files; a test runs each. */
export const payingFiles = [
  { title: "openai", fence: "ts", path: "dev/examples/pay/openai.ts" },
  { title: "@anthropic-ai/sdk", fence: "ts", path: "dev/examples/pay/anthropic.ts" },
  { title: "Vercel's ai", fence: "ts", path: "dev/examples/pay/ai-sdk.ts" },
  { title: "LangChain", fence: "ts", path: "dev/examples/pay/langchain.ts" },
  { title: "Python's openai", fence: "python", path: "dev/examples/pay/pay.py" }
] as const

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const payingPage = Effect.flatMap(
  Effect.promise(() => readFile("package.json", "utf8")),
  (text) => {
    const { dependencies, devDependencies } = JSON.parse(text) as Manifest
    const head = payingHead({ ...dependencies, ...devDependencies })
    return pageOfFiles({ path: "docs/paying-clients.md", head }, payingFiles)
  }
)

/** The clients and payment packages, as tested here. */
const payingPackages = [
  "openai",
  "@anthropic-ai/sdk",
  "ai",
  "@ai-sdk/openai-compatible",
  "@langchain/openai",
  "@langchain/core",
  "@x402/fetch",
  "@x402/evm",
  "viem"
]

const payingHead = (versions: Readonly<Record<string, string>>) => `# Clients that pay

Made from the files in \`dev/examples/pay\` by \`./starling docs\`. Each is whole: the official client of its maker, unmodified, with a
\`fetch\` (in Python: an HTTP client) that answers a 402 by signing the payment. A test runs each file against a gateway and a chain, by
every way to pay.

| variable | is |
| --- | --- |
| \`GATEWAY\` | the gateway: \`http://localhost:7402\` of \`./starling up\` |
| \`WALLET_KEY\` | the private key of a wallet with the token that the gateway takes; \`./starling up\` prints a funded one |
| \`RPC_URL\` | a node of the chain, which \`upto\` and \`batch-settlement\` read; \`./starling up\` prints its own |
| \`MODEL\` | a model of \`GET /v1/models\`; without it \`demo/echo\` |
| \`SCHEME\` | the way to pay; without it the gateway's first offer |

| scheme | is for | costs |
| --- | --- | --- |
| \`exact\` | any caller, also on Solana | the quote; the answer waits for the chain |
| \`upto\` | calls whose length nobody knows before | what was used; the answer waits for the chain. Permit2 must be approved once: the client signs that approval, and the gateway sends it |
| \`batch-settlement\` | many calls, one after another | what was used, from a deposit of five times the first quote; no chain is waited for. \`scheme.refund(url)\` of \`BatchSettlementEvmScheme\` returns the rest |

- **A limit.** The clients of x402 sign at most one dollar for a call, and only known dollar tokens: \`setSpendControls\` of \`x402Client\` changes that.
- **Retries.** A call that the gateway fails is not charged. These clients sign a payment of its own for each try: an answer that was made
  and lost on its way is charged, and so is the next one.
- **Channels.** The folder \`channels\` keeps the count of each deposit. A client that loses it goes on from what the gateway shows it: its own
  last voucher. A channel pays for one call at a time; another one meanwhile gets 429, and most of these clients try that again.
- **The parameters of a call set its price.** A quote by \`upto\` and \`batch-settlement\` is for the longest answer: \`max_tokens\` lowers it.

In TypeScript, with Node 24 or newer, which runs it as it stands, in a new folder that has the file:

\`\`\`sh
npm init -y && npm pkg set type=module
npm install ${payingPackages.map((name) => `${name}@${versions[name]}`).join(" ")}
\`\`\`

These versions are those that the test runs; of the first four only that of the file is needed. In Python install \`openai\` and
\`x402[evm,extensions,httpx]\`.`

const head = `# The command line

Generated by \`./starling docs\`; each command says the same with \`--help\`.

Every command ends with one of these codes; roles and \`up\` also with 78, where the configuration is wrong. What a command found
goes to standard output, everything else to standard error.

| code | when |
| --- | --- |
${Object.entries(exitCodes)
  .map(([code, when]) => `| ${code} | ${when} |`)
  .join("\n")}

Completions, for every command and flag, names of events and of the running fleet's endpoints:

    ./starling --completions bash > ~/.local/share/bash-completion/completions/starling
    ./starling --completions zsh > "\${fpath[1]}/_starling"
    ./starling --completions fish > ~/.config/fish/completions/starling.fish`
