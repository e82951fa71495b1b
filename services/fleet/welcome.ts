/** What `up` prints once it runs: all addresses, and things to try. It names nothing that this fleet lacks. Pure. */
import type { ReadyReport, RoleName } from "#base"

interface Model {
  readonly Id: string
  readonly Kind: string
  readonly Free: boolean
}

interface Running {
  /** The address that signs a browser in; undefined if the page is off. */
  readonly page: string | undefined
  readonly roles: ReadonlyArray<RoleName>
  readonly models: ReadonlyArray<Model>
}

export const welcome = (report: ReadyReport, { page, roles, models }: Running): string =>
  [
    "",
    ...(page === undefined ? ["Starling is up."] : [`Starling is up: ${page}`]),
    ...(report.pipeline === undefined ? [] : [`  pipeline            ${report.pipeline}/workitems`]),
    ...(report.gateway === undefined
      ? []
      : [`  models              ${report.gateway}/v1/chat/completions  (${namesOf(models)})`]),
    ...(report.speech === undefined ? [] : [`  speech              ${report.speech}/v1/audio/stream`]),
    ...(report.console === undefined
      ? []
      : [`  console             ${report.console}${page === undefined ? "" : signsIn}`]),
    `  metrics and health  ${report.metrics}/metrics  /livez  /readyz`,
    `  bus                 ${report.nats}`,
    `    for a service     ${report.natsCredentials.user}  ${report.natsCredentials.pass}`,
    `  owner's token       ${report.token}`,
    ...(report.chains?.evm === undefined
      ? []
      : [`  a funded test key   ${report.chains.evm.payer.privateKey}  (local EVM chain, ${report.chains.evm.rpc})`]),
    ...(report.chains?.solana === undefined
      ? []
      : [`  and for Solana      ${report.chains.solana.payer.secretKey}  (local Solana chain)`]),
    "",
    ...trials(report, { roles, models }),
    "",
    ""
  ].join("\n")

const signsIn = "  (./starling console signs a browser in)"

const namedMax = 3

/** The first few; the gateway's list has all. */
const namesOf = (models: ReadonlyArray<Model>) => {
  const named = models.slice(0, namedMax).map(({ Id }) => Id)
  const more = models.length - named.length
  if (named.length === 0) return "none is configured"
  return `${named.join(", ")}${more === 0 ? "" : `, and ${more} more`}`
}

const isSold = ({ Kind, Free }: Model) => Kind === "chat" && !Free

const trials = (report: ReadyReport, { roles, models }: Pick<Running, "roles" | "models">) => {
  const delivers = roles.includes("webhook-dispatcher")
  const sold = report.chains?.evm === undefined || report.gateway === undefined ? undefined : models.find(isSold)
  const commands = [
    ...(delivers ? ["publish work_item.merged --file dev/examples/merged.json"] : []),
    ...(report.speech === undefined ? [] : ['say "Hello there, this is Starling." -o hello.mp3 --marks']),
    ...(sold === undefined ? [] : [`pay "Hello there" --model ${sold.Id}`]),
    ...(report.console === undefined ? [] : ["endpoints list"]),
    ...(delivers ? ["tail"] : [])
  ]
  return commands.length === 0
    ? []
    : ["Try, in another terminal:", ...commands.map((command) => `  ./starling ${command}`)]
}
