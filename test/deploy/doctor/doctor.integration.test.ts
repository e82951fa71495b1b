import { readFileSync } from "node:fs"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stringify } from "yaml"
import { certificatesCheck } from "../../../deploy/doctor/checks/certificates.ts"
import { examine } from "../../../deploy/doctor/doctor.ts"
import { planOf } from "../../../deploy/doctor/plan.ts"
import { type Authority, newAuthority } from "../../support/certificates.ts"
import { healthy, production, secret } from "./healthy.ts"

let folder: string
let authority: Authority
let stranger: Authority
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "starling-doctor-"))
  authority = newAuthority()
  stranger = newAuthority()
})
afterAll(() => {
  authority.remove()
  stranger.remove()
  rmSync(folder, { recursive: true })
})

const bus = {
  Url: "tls://nats.starling.svc:4222",
  TlsCaFile: "/etc/starling-bus-ca/ca.crt",
  Topology: "verify",
  Replicas: 3
}
const encrypted = () => production({ Bus: bus })

describe("the brokers' certificate", () => {
  const day = 86_400_000
  interface Shown {
    readonly host?: string
    readonly signer?: () => Authority
    readonly nowMs?: number
  }
  const told = ({ host = "nats.starling.svc", signer = () => authority, nowMs }: Shown) => {
    const { certificate, key } = signer().sign(host, `broker-${host}`)
    const shown = secret("nats-tls", {
      "tls.crt": readFileSync(certificate, "utf8"),
      "tls.key": readFileSync(key, "utf8")
    })
    const map = { metadata: { name: "starling-bus-ca" }, data: { "ca.crt": readFileSync(authority.caFile, "utf8") } }
    const cluster = { ...healthy, secrets: [shown], configMaps: [map] }
    return certificatesCheck(cluster, planOf(encrypted()), nowMs ?? Date.now() + 5_000)
      .filter(({ state }) => state !== "advice" || nowMs !== undefined)
      .map(({ what }) => what)
  }

  it("passes when it is for the name in Bus.Url and signed by the roles' authority", () => {
    assert.deepStrictEqual(told({}), [])
  })

  it("fails for another name", () => {
    assert.match(
      told({ host: "nats.elsewhere.example" }).join("\n"),
      /is not for nats\.starling\.svc, .*DNS:nats\.elsewhere\.example$/u
    )
  })

  it("fails when another authority signed it", () => {
    assert.match(told({ signer: () => stranger }).join("\n"), /is not signed by what starling-bus-ca holds/u)
  })

  it("fails when it has expired, and warns when it soon will", () => {
    assert.match(told({ nowMs: Date.now() + 100_000 * day }).join("\n"), /has ended on/u)
  })

  it("is reported missing, with the authority, when neither exists", () => {
    const cluster = { ...healthy, secrets: [], configMaps: [] }
    const whats = certificatesCheck(cluster, planOf(encrypted()), Date.now()).map(({ what }) => what)

    assert.deepStrictEqual(whats, [
      "the ConfigMap starling-bus-ca has no ca.crt",
      "there is no secret nats-tls with tls.crt and tls.key"
    ])
  })
})

/** A program in kubectl's place. Its answers are files, named after the request. */
const kubectl = (script: string) => {
  const path = join(folder, `kubectl-${Math.random().toString(36).slice(2)}`)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

const listOf = (items: unknown) => JSON.stringify({ items: items ?? [] })

const answering = (kustomized: string) => {
  const overlay = join(folder, "rendered.yaml")
  writeFileSync(overlay, kustomized)
  const answer = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return `cat ${join(folder, name)}`
  }
  return kubectl(`case "$*" in
  kustomize*) cat ${overlay} ;;
  version*) ${answer("version", JSON.stringify({ serverVersion: { gitVersion: healthy.version } }))} ;;
  api-resources*) ${answer("resources", (healthy.resources ?? []).join("\n"))} ;;
  "get namespaces"*) ${answer("namespaces", listOf(healthy.namespaces))} ;;
  "get deployments"*) ${answer("workloads", listOf(healthy.workloads))} ;;
  "get secrets"*) echo 'Error from server (Forbidden): secrets is forbidden' >&2; exit 1 ;;
  "get configmaps"*) ${answer("configmaps", listOf(healthy.configMaps))} ;;
  "get networkpolicies"*) ${answer("policies", listOf([]))} ;;
  "get storageclasses"*) ${answer("classes", '{"items":[{"metadata":{}}]}')} ;;
  "get nodes"*) ${answer("nodes", listOf(healthy.nodes))} ;;
  "get services"*) ${answer("services", listOf(healthy.services))} ;;
  "get pods"*) printf 'others\\tone\\t250m,64Mi;,;\\n' ;;
  *) echo "nobody answers $*" >&2; exit 1 ;;
esac`)
}

const examined = (program: string, isJson = false) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const code = yield* examine({
      overlay: "prod",
      isJson,
      print: (line) => void lines.push(line),
      program,
      withinMs: 5_000
    })
    return { code, lines }
  })

describe("doctor --kubernetes", () => {
  it.live("calls only kubectl, reports what it was not allowed to see, and exits with 1", () =>
    Effect.gen(function* () {
      const program = answering(
        production()
          .map((object) => stringify(object))
          .join("---\n")
      )
      const { code, lines } = yield* examined(program)

      assert.strictEqual(code, 1)
      const text = lines.join("\n")
      assert.include(text, "could not look at secrets of starling: Error from server (Forbidden): secrets is forbidden")
      assert.match(text, /could not look at storage classes: an answer of another shape: .*name/u)
      assert.include(text, "✓ brokers")
      assert.include(lines.at(-1), "2 to mend")
    })
  )

  it.live("prints the same findings as one JSON object", () =>
    Effect.gen(function* () {
      const program = answering(
        production()
          .map((object) => stringify(object))
          .join("---\n")
      )
      const { lines } = yield* examined(program, true)
      const told = JSON.parse(lines.join("")) as {
        readonly ok: boolean
        readonly findings: ReadonlyArray<{ readonly check: string }>
      }

      assert.strictEqual(lines.length, 1)
      assert.isFalse(told.ok)
      assert.deepStrictEqual(
        told.findings.map(({ check }) => check),
        ["access", "access"]
      )
    })
  )

  it.live.each([
    {
      when: "there is no kubectl",
      program: () => join(folder, "nobody"),
      reason: /^there is no .*nobody on this machine/u
    },
    {
      when: "the overlay is none",
      program: () => kubectl("echo 'error: no kustomization' >&2; exit 1"),
      reason: /^the overlay prod cannot be rendered: error: no kustomization$/u
    },
    {
      when: "the cluster is away",
      program: () => kubectl('[ "$1" = kustomize ] && exit 0; echo "connection refused" >&2; exit 1'),
      reason: /^the cluster cannot be reached: connection refused$/u
    },
    {
      when: "the cluster is silent",
      program: () => kubectl('[ "$1" = kustomize ] && exit 0; exec sleep 60'),
      reason: /^the cluster cannot be reached: no answer within 5 s$/u
    }
  ])("explains why it cannot begin when $when", ({ program, reason }) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(examined(program()))
      assert.match(error.message, reason)
    })
  )
})
