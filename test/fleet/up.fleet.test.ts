import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { runHere } from "../support/command.ts"

const homes: Array<Home> = []
const fleets: Array<RunningFleet> = []

const home = (changes: Readonly<Record<string, string>> = {}) => {
  const made = newHome(changes)
  homes.push(made)
  return made
}
const up = async (where: Home) => {
  const fleet = await startFleet(where)
  fleets.push(fleet)
  return fleet
}
/** A command in this process: to start one for each would take most of the time. */
const command = (where: Home, ...words: ReadonlyArray<string>) => Effect.runPromise(runHere(words, where.environment))

/** Empty for a dead process, even one that is not yet reaped. */
const commandLine = (pid: number) => {
  const path = `/proc/${pid}/cmdline`
  return existsSync(path) ? readFileSync(path, "latin1") : ""
}
const metric = async (fleet: RunningFleet, line: string) =>
  (await (await fetch(`${fleet.ready.metrics}/metrics`)).text()).includes(line)

afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.stop("SIGTERM")
  for (const made of homes.splice(0)) made.remove()
})

/** A home with a disk of its own that is far smaller than all the limits of the streams; undefined where none can be mounted. */
const smallHome = () => {
  const made = newHome()
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=512m", "starling-test", made.folder], { stdio: "ignore" })
  } catch {
    made.remove()
    return undefined
  }
  const unmount = () => execFileSync("umount", [made.folder])
  return { ...made, remove: () => (unmount(), made.remove()) }
}
const onSmallDisk = smallHome()
if (onSmallDisk !== undefined) afterAll(() => onSmallDisk.remove())

describe("a fleet on a small disk", () => {
  it.skipIf(onSmallDisk === undefined)("starts, and delivers (left out where no tmpfs can be mounted)", async () => {
    const where = onSmallDisk ?? assert.fail()
    const fleet = await up(where)
    assert.strictEqual((await fetch(`${fleet.ready.metrics}/readyz`)).status, 200)
    assert.strictEqual((await command(where, "publish", "work_item.merged", "--example")).code, 0)
    await until(() => fleet.log().includes("received work_item.merged"))
  })
})

describe("a fleet that `./starling up` has started", () => {
  let where: Home
  let fleet: RunningFleet
  beforeAll(async () => {
    where = newHome()
    fleet = await startFleet(where)
  })
  afterAll(async () => {
    await fleet?.stop("SIGTERM")
    where?.remove()
  })

  it("is ready, and a published event reaches the receiver, signed", async () => {
    assert.match(fleet.ready.token, /^stl_/u)
    assert.strictEqual((await fetch(`${fleet.ready.metrics}/readyz`)).status, 200)
    assert.strictEqual((await fetch(`${fleet.ready.metrics}/livez`)).status, 200)
    assert.strictEqual((await fetch(`${fleet.ready.metrics}/nothing`)).status, 404)
    assert.strictEqual((await fetch(`${fleet.ready.metrics}/metrics`, { method: "POST" })).status, 405)

    const published = await starling(where, "publish", "work_item.merged", "--file", "dev/examples/merged.json")

    assert.strictEqual(published.code, 0, published.error)
    await until(() => fleet.log().includes("received work_item.merged"))
    assert.include(fleet.log(), "signature=good")
    assert.include((await command(where, "endpoints", "list")).out, "demo")
    assert.notInclude(fleet.log(), "a-secret-for-trying-things-out")
  })

  it("refuses a second fleet in the same home, and runs beside one in another", async () => {
    const second = await starling(where, "up")
    assert.strictEqual(second.code, 1)
    assert.include(second.error, `pid ${fleet.pid}`)
    const other = await up(home())
    assert.notStrictEqual(other.ready.nats, fleet.ready.nats)
  })

  it("has a command check its arguments, and report each fault in one line", async () => {
    assert.include((await command(home(), "publish", "work_item.merged", "--example")).error, "no fleet has run")
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["publish", "work_item.suggestion", "--file", "dev/examples/merged.json"], "nothing was sent"],
      [["endpoints", "pause", "nobody"], "there is no such endpoint"],
      [["token", "revoke", "nothing"], "no token nothing"],
      [["token", "make", "--role", "viewer", "--scope", "audio:*"], "more than a viewer may"],
      [["tail", "work_itm.merged"], "did you mean work_item.merged?"],
      [["abandoned", "resend", "--endpoint", "nosuch"], "endpoint: there is no such endpoint"],
      [["publish", "work_item.mergd", "--example"], "did you mean work_item.merged?"]
    ]
    for (const [parameters, reason] of cases) {
      const ran = await command(where, ...parameters)
      assert.strictEqual(ran.code, 1, parameters.join(" "))
      assert.include(ran.error, reason, parameters.join(" "))
    }
    const misused: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["publish"], "publish needs <event>"],
      [["publish", "work_item.merged"], "name a --file"],
      [["publish", "work_item.merged", "--file", "nowhere.json"], "cannot be read"],
      [["token", "make", "--scope", "nosuch"], "--scope nosuch? it is one of: audio:speech, audio:stream,"],
      [["token", "make", "--expires", "soon"], "--expires soon? it is a lifetime such as"],
      [["token", "make", "--label", "\u001B[2J"], "--label is 1 to 100 characters"],
      [["publish", "work_item.merged", "--example", "--what"], "Unknown option '--what'"],
      [["token", "make", "--role", "king"], "--role king? it is viewer, member, admin or owner"],
      [["abandoned", "resend"], "name a number, an --endpoint"],
      [["abandoned", "resend", "--all", "--since", "yesterday"], "--since yesterday? it is a time such as"],
      [["endpoints", "list", "demo"], "endpoints list takes nothing more, but was given demo"],
      [["up", "--readyjson"], "did you mean --ready-json?"]
    ]
    for (const [parameters, reason] of misused) {
      const ran = await command(where, ...parameters)
      assert.deepStrictEqual([ran.code, ran.error.includes(reason)], [2, true], ran.error)
    }
    const published = join(where.folder, "house.json")
    writeFileSync(published, "{}")
    const unlisted = ["publish", "house.built", "--file", published]
    assert.include((await command(where, ...unlisted)).error, "there is no event house.built")
    assert.strictEqual((await command(where, ...unlisted, "--unchecked")).code, 0)
    // The launcher hands on what a command says, and how it ended.
    const [refused, wrong] = await Promise.all([starling(where, ...unlisted), starling(where, "publish")])
    assert.deepStrictEqual([refused.code, refused.out, wrong.code, wrong.out], [1, "", 2, ""])
    assert.include(refused.error, "there is no event house.built")
    assert.include(wrong.error, "publish needs <event>")
  })

  it("has tokens created with few rights and an end, listed with their age and use, and revoked", async () => {
    const callWith = (token: string) =>
      fetch(`${fleet.ready.pipeline}/workitems`, { headers: { authorization: `Bearer ${token}` } })
    const made = await starling(where, "token", "make", "--label", "my ci")
    const token = made.out.trim()
    assert.match(token, /^stl_[A-Za-z0-9_-]{43}$/u)
    const [id = ""] = /[0-9a-f]{12}/u.exec(made.error) ?? []
    assert.include(made.error, `token ${id}: viewer of default, scopes *; it ends in 90 d`)
    const short = JSON.parse((await command(where, "token", "make", "--expires", "1s", "--json")).out) as {
      readonly id: string
      readonly token: string
      readonly expiresAt: string
    }

    assert.strictEqual((await callWith(token)).status, 200)
    await until(() => Date.now(), { is: (seen) => seen > Date.parse(short.expiresAt) })
    await until(async () => (await command(where, "token", "list")).out.includes("within the hour"))
    const listed = await command(where, "token", "list")
    assert.notInclude(listed.out, token)
    const lines = listed.out.split("\n")
    assert.match(lines[0] ?? "", /^id +label +workspace +role +scopes +age +expires +last use$/u)
    const lineOf = (wanted: string) => lines.find((line) => line.startsWith(wanted)) ?? ""
    assert.match(lineOf(id), /^\S+ +my ci +default +viewer +\* +\d+ (?:s|min) +in 89 d +within the hour$/u)
    assert.match(lineOf(short.id), / +expired \d+ (?:s|min) ago +never$/u)
    assert.strictEqual(lines.filter((line) => line.includes("owner of the home")).length, 1)

    const expired = await callWith(short.token)
    assert.strictEqual(expired.status, 401)
    assert.include(await expired.text(), `the token expired at ${short.expiresAt}`)

    assert.include((await command(where, "token", "revoke", id)).out, `${id} is revoked`)
    await until(() => callWith(token), { is: ({ status }) => status === 401 })
    const ended = JSON.parse((await command(where, "token", "revoke", short.id, "--json")).out) as object
    assert.include(ended, { id: short.id, workspace: "default" })
    assert.isNotNull((ended as { readonly revokedAt: string | null }).revokedAt)
  })

  it("starts its nats-server again when that dies", async () => {
    process.kill(Number(readFileSync(join(where.folder, "nats/server.pid"), "utf8")), "SIGKILL")
    await until(() => fleet.log().includes("nats-server died, starting it again"))
    await until(() => command(where, "publish", "work_item.done", "--example"), { is: ({ code }) => code === 0 })
    await until(() => fleet.log().includes("received work_item.done"))
  })
})

describe("./starling up", () => {
  it("drains on SIGTERM and exits with 0; the next start finds all its data", async () => {
    const where = home()
    const first = await startFleet(where)
    assert.strictEqual((await command(where, "endpoints", "pause", "demo", "--reason", "a trial")).code, 0)
    await command(where, "publish", "work_item.done", "--example")
    assert.strictEqual(await first.stop("SIGTERM"), 0)
    assert.isFalse(existsSync(join(where.folder, "lock")))

    const second = await up(where)
    assert.strictEqual(second.ready.token, first.ready.token)
    assert.strictEqual(statSync(join(where.folder, "owner-token")).mode & 0o777, 0o600)
    // A service that was given them gets in again.
    assert.deepStrictEqual(second.ready.natsCredentials, first.ready.natsCredentials)
    assert.match((await command(where, "endpoints", "list")).out, /paused by \S+ at \S+: a trial/u)
    assert.notInclude(second.log(), "received")
    assert.strictEqual((await command(where, "endpoints", "resume", "demo")).code, 0)
    await until(() => second.log().includes("received work_item.done"))
  })

  it("after a hard kill cleans up the leftover server at the next start, and loses nothing", async () => {
    const where = home()
    const first = await startFleet(where)
    const orphan = Number(readFileSync(join(where.folder, "nats/server.pid"), "utf8"))
    await command(where, "endpoints", "pause", "demo")
    await command(where, "publish", "work_item.failed", "--example")
    await first.stop("SIGKILL")
    assert.include(commandLine(orphan), "server.conf")

    const second = await up(where)

    assert.notInclude(commandLine(orphan), "server.conf")
    await command(where, "endpoints", "resume", "demo")
    await until(() => second.log().includes("received work_item.failed"))
  })

  it("names every fault of every kind of a wrong configuration in one report, and starts nothing", async () => {
    const where = home()
    const config = join(where.folder, "config.json")
    const network = { RpcUrls: ["http://127.0.0.1:9"], PayTo: `0x${"1".repeat(40)}` }
    writeFileSync(
      config,
      JSON.stringify({
        Webhooks: [
          { Name: "a", Url: "ftp://x", SecretEnvVar: "NOT_SET" },
          { Name: "b", Url: "http://b.example", Tries: 1 },
          { Name: "a", Url: "http://a.example", StandardWebhooksSecretEnvVar: "EMPTY" }
        ],
        Buss: {},
        ModelGateway: {
          RunningMax: "many",
          Providers: [{ Name: "p", BaseUrl: "https://p.example/v1", KeyEnvVar: "P_KEY" }, { Name: "p" }],
          Models: [
            { Id: "x/y", Upstreams: [{ Provider: "q", Model: "m" }], FlatMicroUsd: 1 },
            { Id: "x/y", Upstreams: [{ Provider: "p", Model: "m" }] }
          ]
        },
        Payments: {
          Networks: [
            { ...network, Network: "eip155:8453", SettlerKeyEnvVars: ["NO_KEY"] },
            { ...network, Network: "eip155:8453" },
            { ...network, Network: "eip155:5", Asset: `0x${"2".repeat(40)}` }
          ]
        },
        Budget: { WarningThresholdPct: 90, HardCapPct: 80 }
      })
    )
    const environment = {
      ...where.environment,
      STARLING_CONFIG: config,
      EMPTY: " ",
      NO_KEY: "0x12",
      TELEMETRY_PORT: "x"
    }
    const refused = await starling({ ...where, environment }, "up")
    assert.strictEqual(refused.code, 78)
    const reports = refused.error.split("the configuration is not usable").length - 1
    assert.strictEqual(reports, 1, refused.error)
    const faults = refused.error.split("\\n").flatMap((line) => /- ([\w.[\]]+):/u.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(faults, [
      "Webhooks",
      "Webhooks[0].Url",
      "Webhooks[0].SecretEnvVar",
      "Webhooks[1].Tries",
      "Webhooks[2].StandardWebhooksSecretEnvVar",
      "Buss",
      "ModelGateway.RunningMax",
      "ModelGateway.Providers[0].KeyEnvVar",
      "ModelGateway.Providers[1].Name",
      "ModelGateway.Providers[1].BaseUrl",
      "ModelGateway.Models[0].Upstreams[0].Provider",
      "ModelGateway.Models[1]",
      "ModelGateway.Models[1].Id",
      "Payments.Networks",
      "Payments.Networks[0].SettlerKeyEnvVars[0]",
      "Payments.Networks[1].SettlerKeyEnvVars",
      "Payments.Networks[2].AssetName",
      "Payments.Networks[2].AssetVersion",
      "Payments.Networks[2].AssetDecimals",
      "Payments.Networks[2].SettlerKeyEnvVars",
      "Budget",
      "Telemetry.Port"
    ])
    assert.notInclude(refused.error, "0x12")
    // Neither a broker nor a chain, and no lock.
    assert.deepStrictEqual(readdirSync(where.folder), ["config.json"])
  })

  it("gives up a delivery that its receiver never accepts, shows it, and sends it again on request", async () => {
    const where = home()
    const config = join(where.folder, "config.json")
    // Port 9 of this machine: nothing listens there.
    const endpoint = { Name: "dead", Url: "http://127.0.0.1:9/", MaxAttempts: 2, InitialBackoffSeconds: 0.1 }
    writeFileSync(config, JSON.stringify({ Webhooks: [endpoint] }))
    const configured = { ...where, environment: { ...where.environment, STARLING_CONFIG: config } }
    const fleet = await up(configured)
    await command(configured, "publish", "work_item.merged", "--example")
    await until(() =>
      metric(fleet, 'webhook_deliveries_total{role="webhook-dispatcher",endpoint="dead",outcome="abandoned"} 1')
    )
    assert.include(
      (await command(configured, "abandoned", "resend", "--endpoint", "dead")).out,
      "1 delivery on the way again"
    )
    await until(() =>
      metric(fleet, 'webhook_deliveries_total{role="webhook-dispatcher",endpoint="dead",outcome="abandoned"} 2')
    )
  })
})
