import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { assert, describe, it, onTestFinished } from "@effect/vitest"
import { parse, parseAllDocuments } from "yaml"
import { fleetDeployments } from "../../deploy/generate/roles.ts"
import { runbooksUrl } from "../../deploy/generate/rules.ts"
import { closedSchemas } from "./closed-schemas.ts"
import { alerts } from "./declared-metrics.ts"
import { kustomize, repository, schemas } from "./tools.ts"

interface Rendered {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, string>>
}

interface PodSpec {
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup: number }
  readonly containers: ReadonlyArray<{
    readonly image: string
    readonly env: ReadonlyArray<{ readonly name: string }>
    readonly volumeMounts: ReadonlyArray<{ readonly name: string; readonly mountPath: string }>
    readonly securityContext: { readonly readOnlyRootFilesystem: boolean }
  }>
  readonly terminationGracePeriodSeconds: number
  readonly topologySpreadConstraints: ReadonlyArray<{
    readonly topologyKey: string
    readonly whenUnsatisfiable: string
    readonly matchLabelKeys: ReadonlyArray<string>
    readonly nodeTaintsPolicy?: string
  }>
  readonly volumes: ReadonlyArray<{ readonly name: string; readonly configMap?: { readonly name: string } }>
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly automountServiceAccountToken: boolean
    readonly containers: ReadonlyArray<{
      readonly ports?: ReadonlyArray<unknown>
      readonly env: ReadonlyArray<{ readonly valueFrom?: { readonly secretKeyRef: { readonly key: string } } }>
    }>
  }
}

const cronJobIn = (objects: ReadonlyArray<Rendered>) =>
  objects.find(({ kind }) => kind === "CronJob")?.spec as
    | {
        readonly suspend: boolean
        readonly jobTemplate: {
          readonly spec: { readonly activeDeadlineSeconds: number; readonly template: PodTemplate }
        }
      }
    | undefined

/** Whether a policy is about a pod with these labels. */
const reaches = (policy: Rendered["spec"], labels: Readonly<Record<string, string>>) => {
  const { podSelector } = policy as unknown as {
    readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> }
  }
  return Object.entries(podSelector.matchLabels ?? {}).every(([name, value]) => labels[name] === value)
}

const overlays = join(repository, "deploy/k8s/overlays")

const render = (overlay: string, folder = overlays): ReadonlyArray<Rendered> => {
  const [command = "", ...parameters] = kustomize ?? []
  const text = execFileSync(command, [...parameters, join(folder, overlay)], {
    encoding: "utf8",
    maxBuffer: 64 * 1_024 * 1_024
  })
  return parseAllDocuments(text).map((document) => document.toJS() as Rendered)
}

const podOf = (object: Rendered | undefined) =>
  (object?.spec as { readonly template: { readonly spec: PodSpec } } | undefined)?.template.spec

describe.skipIf(kustomize === undefined).each(["dev", "prod"])("the overlay %s", (overlay) => {
  const objects = kustomize === undefined ? [] : render(overlay)
  const named = (kind: string) => objects.filter((object) => object.kind === kind)

  it.skipIf(schemas === undefined)("holds only objects that their schemas know, to the last field", () => {
    const validatorOf = closedSchemas(schemas ?? "")
    const faults = objects.flatMap((object) => {
      const name = `${object.apiVersion}/${object.kind} ${object.metadata.name}`
      const validate = validatorOf(`${object.apiVersion}/${object.kind}`)
      if (validate === undefined) return [`${name}: no schema`]
      if (validate(object)) return []
      return (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${name} ${instancePath} ${message} ${JSON.stringify(params)}`
      )
    })

    assert.isAbove(objects.length, 30)
    assert.deepStrictEqual(faults, [])
  })

  it.skipIf(schemas === undefined)("would be refused with a field misspelt", () => {
    const validatorOf = closedSchemas(schemas ?? "")
    const deployment = structuredClone(named("Deployment")[0]) as unknown as { spec: { template: { spec: object } } }
    Object.assign(deployment.spec.template.spec, { terminationGracePeriodSecond: 45 })

    assert.isFalse(validatorOf("apps/v1/Deployment")?.(deployment))
  })

  it("runs every role in one deployment, with its own service account", () => {
    const roles = fleetDeployments.map(({ name }) => name).toSorted()

    assert.deepStrictEqual(
      named("Deployment")
        .map(({ metadata }) => metadata.name)
        .toSorted(),
      roles
    )
    assert.includeMembers(
      named("ServiceAccount").map(({ metadata }) => metadata.name),
      roles
    )
  })

  it("gives every role time to drain, and only a scratch volume to write to", () => {
    for (const deployment of named("Deployment")) {
      const pod = podOf(deployment)
      assert.strictEqual(pod?.terminationGracePeriodSeconds, 45)
      assert.isTrue(pod?.containers.every(({ securityContext }) => securityContext.readOnlyRootFilesystem))
    }
  })

  it("runs every role, and the operator, as a user that a node has none of", () => {
    const pods = [
      ...named("Deployment").map(podOf),
      cronJobIn(objects)?.jobTemplate.spec.template.spec as unknown as PodSpec
    ]
    for (const pod of pods) {
      const { runAsUser, runAsGroup, fsGroup } = pod?.securityContext ?? assert.fail()
      assert.deepStrictEqual([runAsUser, runAsGroup, fsGroup], [10_001, 10_001, 10_001])
    }
  })

  it("mounts an existing configuration", () => {
    const maps = named("ConfigMap").map(({ metadata }) => metadata.name)
    const mounted = named("Deployment").flatMap((deployment) =>
      (podOf(deployment)?.volumes ?? []).flatMap(({ configMap }) => (configMap === undefined ? [] : [configMap.name]))
    )
    const wanted = [...new Set(mounted)].filter((name) => name.startsWith("starling-configuration"))

    assert.strictEqual(wanted.length, 1)
    assert.includeMembers(maps, wanted)
  })

  it("has a suspended pod for the operator's commands, which ends by itself", () => {
    const job = cronJobIn(objects)

    assert.isTrue(job?.suspend)
    assert.isAtMost(job?.jobTemplate.spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY, 4 * 3_600)
    assert.isAbove(job?.jobTemplate.spec.activeDeadlineSeconds ?? 0, 0)
  })

  it("gives the operator's pod one password and one secret, and egress to the broker alone", () => {
    const job = cronJobIn(objects) ?? assert.fail("there is none")
    const { metadata, spec } = job.jobTemplate.spec.template
    const keys = spec.containers.flatMap(({ env }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.key ?? []))
    const ways = named("NetworkPolicy").filter(({ spec: policy }) => reaches(policy, metadata.labels))

    assert.deepStrictEqual(keys, overlay === "prod" ? ["operator"] : [])
    assert.strictEqual(spec.automountServiceAccountToken, false)
    assert.deepStrictEqual(
      spec.containers.flatMap(({ ports }) => ports ?? []),
      []
    )
    assert.sameMembers(
      ways.map(({ metadata: { name } }) => name),
      ["deny-all", "metrics", "bus-and-names"]
    )
  })

  it("puts everything into one namespace", () => {
    const spaces = new Set(objects.map(({ metadata }) => metadata.namespace).filter((name) => name !== undefined))

    assert.strictEqual(spaces.size, 1)
  })
})

describe.skipIf(kustomize === undefined)("production", () => {
  const objects = kustomize === undefined ? [] : render("prod")

  it("leaves the number of pods to the autoscaler of a role that has one", () => {
    const scaled = objects.filter(({ kind }) => kind === "ScaledObject").map(({ metadata }) => metadata.name)
    const fixed = objects
      .filter(({ kind, spec }) => kind === "Deployment" && spec !== undefined && "replicas" in spec)
      .map(({ metadata }) => metadata.name)

    assert.deepStrictEqual(fixed.toSorted(), ["payment-settler", "sweeper"])
    assert.strictEqual(new Set([...scaled, ...fixed]).size, fleetDeployments.length)
  })

  it("trusts the broker's authority for the broker alone, and mounts it at the configured path", () => {
    const configured = objects.find(({ metadata }) => metadata.name.startsWith("starling-configuration"))
    const { Bus } = JSON.parse(configured?.data?.["starling.config.json"] ?? "{}") as {
      readonly Bus: { readonly Url: string; readonly TlsCaFile: string }
    }
    assert.match(Bus.Url, /^tls:\/\//u)
    assert.strictEqual(basename(Bus.TlsCaFile), "ca.crt")
    for (const deployment of objects.filter(({ kind }) => kind === "Deployment")) {
      const pod = podOf(deployment)
      const { name } = pod?.volumes.find(({ configMap }) => configMap?.name === "starling-bus-ca") ?? {}
      const mounted = pod?.containers.flatMap(({ volumeMounts }) => volumeMounts).find((mount) => mount.name === name)
      assert.strictEqual(mounted?.mountPath, dirname(Bus.TlsCaFile))
      const variables = pod?.containers.flatMap(({ env }) => env.map((variable) => variable.name)) ?? []
      assert.notInclude(variables, "NODE_EXTRA_CA_CERTS")
    }
  })

  it("does not overwrite the broker's authority", () => {
    // Applied with the overlay, it would be emptied at every apply.
    assert.notInclude(
      objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name),
      "starling-bus-ca"
    )
  })

  it("never puts both new pods of a role on one node, even while old ones end and while a node is drained", () => {
    for (const deployment of objects.filter(({ kind }) => kind === "Deployment")) {
      const spread = podOf(deployment)?.topologySpreadConstraints.find(
        ({ topologyKey }) => topologyKey === "kubernetes.io/hostname"
      )
      assert.strictEqual(spread?.whenUnsatisfiable, "DoNotSchedule")
      assert.deepStrictEqual(spread?.matchLabelKeys, ["pod-template-hash"])
      assert.strictEqual(spread?.nodeTaintsPolicy, "Honor")
    }
  })

  it("admits only callers of the APIs and the scraper", () => {
    const policies = objects.filter(({ kind }) => kind === "NetworkPolicy").map(({ metadata }) => metadata.name)

    assert.include(policies, "deny-all")
    assert.deepStrictEqual(
      policies.filter((name) => name.endsWith("-callers")).toSorted(),
      fleetDeployments
        .filter(({ api }) => api !== undefined)
        .map(({ name }) => `${name}-callers`)
        .toSorted()
    )
  })

  it("admits nobody to the facilitator's port", () => {
    const { spec } = objects.find(({ metadata }) => metadata.name === "payment-verifier-callers") ?? assert.fail()
    assert.deepStrictEqual([spec?.["policyTypes"], spec?.["ingress"]], [["Ingress"], undefined])
    // No other policy opens it.
    const labels = { "app.kubernetes.io/name": "payment-verifier", "app.kubernetes.io/part-of": "starling" }
    const opening = objects
      .filter(({ kind, spec: other }) => kind === "NetworkPolicy" && reaches(other, labels))
      .flatMap(
        ({ spec: other }) => (other?.["ingress"] ?? []) as ReadonlyArray<{ readonly ports?: ReadonlyArray<object> }>
      )
    assert.deepStrictEqual(
      opening.map(({ ports }) => ports),
      [[{ port: "metrics", protocol: "TCP" }]]
    )
  })
})

interface Rule {
  readonly from: unknown
  readonly ports: unknown
}

describe("the scanner's configuration", () => {
  it("skips what the guide refuses, with its reason, and nothing else", () => {
    const { "skip-check": skipped } = parse(readFileSync(join(repository, "deploy/k8s/checkov.yaml"), "utf8")) as {
      readonly "skip-check": ReadonlyArray<string>
    }
    const guide = readFileSync(join(repository, "docs/install-kubernetes.md"), "utf8")
    const refused = [...guide.matchAll(/^\| `(CKV_\w+)`[^|]*\| refused: \S/gmu)].map(([, check = ""]) => check)
    assert.sameMembers([...skipped], refused)
  })
})

describe.skipIf(kustomize === undefined)("an overlay over production", () => {
  const rendered = (patch: ReadonlyArray<string>) => {
    const copy = mkdtempSync(join(tmpdir(), "starling-overlay-"))
    onTestFinished(() => rmSync(copy, { recursive: true }))
    cpSync(join(repository, "deploy/k8s"), copy, { recursive: true })
    mkdirSync(join(copy, "overlays/ours"))
    const lines = [
      "apiVersion: kustomize.config.k8s.io/v1beta1",
      "kind: Kustomization",
      "resources: [../prod]",
      ...patch
    ]
    writeFileSync(join(copy, "overlays/ours/kustomization.yaml"), lines.join("\n"))
    return render("ours", join(copy, "overlays"))
  }

  it("names the callers of the APIs and of the facilitator as the guide says", () => {
    const guide = readFileSync(join(repository, "docs/install-kubernetes.md"), "utf8")
    const patchesOf = (name: string) => {
      const begin = guide.indexOf(`      - target: { kind: NetworkPolicy, name: ${name} }`)
      return guide.slice(begin, guide.indexOf("\n    END", begin)).split("\n\n")[0] ?? assert.fail(name)
    }
    const patches = ["(pipeline-api|model-gateway|speech-api)-callers", "payment-verifier-callers"].map(patchesOf)
    const objects = rendered(["patches:", ...patches])
    const fromOf = (name: string) => {
      const { spec } = objects.find(({ metadata }) => metadata.name === `${name}-callers`) ?? assert.fail(name)
      const [rule, ...others] = (spec?.["ingress"] ?? []) as ReadonlyArray<Rule>
      assert.isEmpty(others)
      assert.deepStrictEqual(rule?.ports, [{ port: "http", protocol: "TCP" }])
      return JSON.stringify(rule?.from)
    }
    for (const name of ["pipeline-api", "model-gateway", "speech-api"]) assert.include(fromOf(name), '"ingress-nginx"')
    assert.include(fromOf("payment-verifier"), '"shop"')
  })
})

describe("a production overlay of one's own", () => {
  it.skipIf(kustomize === undefined)("leads every alert to the page that it names", () => {
    const copy = mkdtempSync(join(tmpdir(), "starling-overlay-"))
    onTestFinished(() => rmSync(copy, { recursive: true }))
    cpSync(join(repository, "deploy/k8s"), copy, { recursive: true })
    const own = join(copy, "overlays/prod/kustomization.yaml")
    const address = "https://wiki.example/starling/operations"
    writeFileSync(own, readFileSync(own, "utf8").replace(`address=${runbooksUrl}`, `address=${address}`))

    const text = JSON.stringify(render("prod", join(copy, "overlays")).filter(({ kind }) => kind === "PrometheusRule"))
    const links = [...text.matchAll(/"runbook_url":"([^"#]*)#(\w+)"/gu)]
    assert.deepStrictEqual(
      links.map(([, , anchor = ""]) => anchor).toSorted(),
      alerts.map(({ name }) => name.toLowerCase()).toSorted()
    )
    for (const [, page, anchor] of links) assert.strictEqual(page, address, anchor)
  })
})

describe("the development overlay", () => {
  it.skipIf(kustomize === undefined)("gives no role a user that its broker does not have", () => {
    const variables = render("dev")
      .filter(({ kind }) => kind === "Deployment")
      .flatMap((deployment) => podOf(deployment)?.containers.flatMap(({ env }) => env.map(({ name }) => name)) ?? [])

    assert.notInclude(variables, "BUS_USER")
    assert.notInclude(variables, "BUS_PASSWORD")
    assert.include(variables, "STARLING_CONFIG")
  })
})
