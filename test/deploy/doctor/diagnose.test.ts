import { assert, describe, it } from "@effect/vitest"
import type { Cluster } from "../../../deploy/doctor/cluster.ts"
import { diagnose } from "../../../deploy/doctor/diagnose.ts"
import { isIll, report } from "../../../deploy/doctor/finding.ts"
import { hostsIn } from "../../../deploy/doctor/checks/certificates.ts"
import { type Plan, planOf, sumOf } from "../../../deploy/doctor/plan.ts"
import { quantity } from "../../../deploy/generate/quantity.ts"
import { brokerSet, healthy, nack, passwords, plan, production, running, secret } from "./healthy.ts"

const found = (cluster: Cluster, of: Plan = plan) => diagnose(cluster, of, { nowMs: Date.now(), unread: [] })

const without = (name: string) => ({
  ...healthy,
  workloads: (healthy.workloads ?? []).filter(({ metadata }) => metadata.name !== name)
})
const withIts = (name: string, workload: ReturnType<typeof running>) => ({
  ...healthy,
  workloads: [...(without(name).workloads ?? []), workload]
})
const configured = (sections: Readonly<Record<string, unknown>>) => planOf(production(sections))

interface Case {
  readonly when: string
  readonly cluster?: Cluster
  readonly plan?: Plan
  readonly check: string
  readonly says: RegExp
  readonly mends: RegExp
  readonly isAdvice?: boolean
}

const sells = {
  ModelGateway: {
    Providers: [{ Name: "inside", BaseUrl: "http://10.4.0.9:8000/v1", KeyEnvVar: "INSIDE_KEY" }],
    Models: []
  }
}
const inside = configured(sells)
const webhooks = (AllowCidrs: ReadonlyArray<string>) =>
  configured({
    Webhooks: [{ Name: "shop", Url: "https://10.8.0.4/hook", SecretEnvVar: "SHOP_SECRET", EventFilter: ["*"] }],
    WebhookDelivery: { AllowCidrs }
  })
const knowing: Cluster = {
  ...healthy,
  secrets: [
    ...(healthy.secrets ?? []),
    secret("starling-webhook-secrets", { SHOP_SECRET: "a-secret-of-the-shop" }),
    secret("starling-provider-keys", { INSIDE_KEY: "k" })
  ]
}

const cases: ReadonlyArray<Case> = [
  {
    when: "Kubernetes is too old",
    cluster: { ...healthy, version: "v1.29.3" },
    check: "version",
    says: /Kubernetes is v1\.29\.3/u,
    mends: /newer/u
  },
  {
    when: "the namespace is missing",
    cluster: { ...healthy, namespaces: [{ metadata: { name: "monitoring" } }] },
    check: "namespace",
    says: /no namespace starling/u,
    mends: /^kubectl create namespace starling\nkubectl label namespace starling pod-security/u
  },
  {
    when: "the namespace enforces nothing",
    cluster: { ...healthy, namespaces: [{ metadata: { name: "starling" } }] },
    check: "namespace",
    says: /does not enforce/u,
    mends: /^kubectl label namespace starling --overwrite/u,
    isAdvice: true
  },
  {
    when: "the streams' kind is unknown",
    cluster: { ...healthy, resources: (healthy.resources ?? []).filter((name) => !name.startsWith("streams.")) },
    check: "controllers",
    says: /does not know Stream, the kinds of NACK/u,
    mends: /^helm install nack nats\/nack/u
  },
  {
    when: "NACK does not run",
    cluster: without("nack"),
    check: "controllers",
    says: /^NACK does not run$/u,
    mends: /^helm install nack/u
  },
  {
    when: "NACK runs elsewhere",
    cluster: withIts("nack", nack({ namespace: "nats-system" })),
    check: "controllers",
    says: /NACK runs in nats-system, not in starling/u,
    mends: /install it in starling/u
  },
  {
    when: "NACK runs without its loop",
    cluster: withIts("nack", nack({ args: ["-s=nats://nats:4222"] })),
    check: "controllers",
    says: /without --control-loop/u,
    mends: /controlLoop=true/u
  },
  {
    when: "NACK has its chart's old labels",
    cluster: withIts("nack", nack({ labels: { app: "nack" } })),
    check: "controllers",
    says: /no label app\.kubernetes\.io\/name=nack/u,
    mends: /useLegacyNames=false/u
  },
  {
    when: "KEDA's pods are not ready",
    cluster: withIts("keda-operator", {
      ...running({ name: "keda-operator", namespace: "keda", image: "ghcr.io/kedacore/keda:2.20.2" }),
      status: {}
    }),
    check: "controllers",
    says: /no pod of KEDA is ready/u,
    mends: /^kubectl -n keda describe/u
  },
  {
    when: "the Prometheus operator is missing",
    cluster: without("operator"),
    check: "controllers",
    says: /the Prometheus operator does not run/u,
    mends: /kube-prometheus-stack/u
  },
  {
    when: "there is no metrics-server",
    cluster: { ...healthy, resources: (healthy.resources ?? []).filter((name) => name !== "pods.metrics.k8s.io") },
    check: "metrics-server",
    says: /no metrics-server/u,
    mends: /^helm install metrics-server/u
  },
  {
    when: "Prometheus is called otherwise",
    cluster: { ...healthy, services: [] },
    check: "Prometheus",
    says: /no service prometheus-operated/u,
    mends: /serverAddress/u
  },
  {
    when: "there are no passwords",
    cluster: { ...healthy, secrets: [] },
    check: "passwords",
    says: /there is no secret starling-bus-passwords/u,
    mends: /^mkdir -m 700 passwords\nfor user in pipeline-api .*operator nack system; do /u
  },
  {
    when: "two users have no password",
    cluster: { ...healthy, secrets: [secret("starling-bus-passwords", { ...passwords, sweeper: "", nack: "" })] },
    check: "passwords",
    says: /no password for sweeper, nack$/u,
    mends: /stringData.*sweeper.*\n.*stringData.*nack/u
  },
  {
    when: "a password begins with a digit",
    cluster: { ...healthy, secrets: [secret("starling-bus-passwords", { ...passwords, operator: "1e9" })] },
    check: "passwords",
    says: /^the passwords of operator do not begin with a letter/u,
    mends: /restart the brokers/u
  },
  {
    when: "the configuration names a variable that no secret has",
    plan: webhooks(["10.8.0.4/32"]),
    cluster: {
      ...healthy,
      policies: [{ kind: "NetworkPolicy", metadata: { name: "inside" }, spec: { podSelector: {}, egress: [{}] } }]
    },
    check: "other secrets",
    says: /starling-webhook-secrets has no SHOP_SECRET/u,
    mends: /^kubectl -n starling create secret generic starling-webhook-secrets --from-literal=SHOP_SECRET/u
  },
  {
    when: "a secret that the configuration names is no good one",
    plan: webhooks(["10.8.0.4/32"]),
    cluster: {
      ...knowing,
      secrets: [...(healthy.secrets ?? []), secret("starling-webhook-secrets", { SHOP_SECRET: "short\n" })],
      policies: [{ kind: "NetworkPolicy", metadata: { name: "inside" }, spec: { podSelector: {}, egress: [{}] } }]
    },
    check: "other secrets",
    says: /^SHOP_SECRET in starling-webhook-secrets is no good secret: it ends with a line break/u,
    mends: /^give starling-webhook-secrets another one/u
  },
  {
    when: "the configuration names a variable with the password of a keystore, or an authorizer's, that no secret has",
    plan: configured({
      Payments: {
        Signers: [
          { Name: "till", Address: `0x${"11".repeat(20)}`, KeystoreFile: "/k.json", PasswordEnvVar: "PASSWORD" }
        ],
        Networks: [{ Network: "eip155:8453", RpcUrls: ["https://rpc.example"], PayTo: `0x${"11".repeat(20)}` }],
        Channels: [
          { Network: "eip155:8453", ReceiverAuthorizer: `0x${"11".repeat(20)}`, AuthorizerKeyEnvVar: "AUTHORIZER" }
        ]
      }
    }),
    check: "other secrets",
    says: /starling-settler-keys has no AUTHORIZER, PASSWORD/u,
    mends: /^kubectl -n starling create secret generic starling-settler-keys --from-literal=AUTHORIZER/u
  },
  {
    when: "no policy lets settlers reach their signer",
    plan: configured({
      Payments: { Signers: [{ Name: "vault", Address: `0x${"11".repeat(20)}`, Url: "https://10.4.0.9:9000" }] }
    }),
    check: "ways out",
    says: /lets payment-settler reach 10\.4\.0\.9\/32, which the signer vault in Payments\.Signers names/u,
    mends: /"name":"payment-settler-inside"/u
  },
  {
    when: "the configuration names a keystore that no secret has",
    plan: configured({
      Payments: {
        Signers: [
          {
            Name: "till",
            Address: `0x${"11".repeat(20)}`,
            KeystoreFile: "/etc/starling-keystores/till.json",
            PasswordFile: "/etc/starling-keystores/till.password"
          }
        ]
      }
    }),
    cluster: {
      ...healthy,
      secrets: [...(healthy.secrets ?? []), secret("starling-settler-keystores", { "till.password": "p" })]
    },
    check: "keystores",
    says: /starling-settler-keystores has no till\.json, which the configuration names/u,
    mends: /--from-file=till\.json --from-file=till\.password/u
  },
  {
    when: "a model's longer answers cost more than exact charges",
    plan: configured({
      ModelGateway: {
        Origin: "https://models.example.com",
        Providers: [{ Name: "p", BaseUrl: "https://p.example/v1" }],
        Models: [
          {
            Id: "demo/x",
            OutputMicroUsdPerMillionTokens: 2_000_000,
            Upstreams: [{ Provider: "p", Model: "m", CostOutputMicroUsdPerMillionTokens: 1_000_000 }]
          }
        ]
      },
      Payments: {
        Networks: [{ Network: "eip155:8453", RpcUrls: ["https://r.example"], PayTo: `0x${"11".repeat(20)}` }]
      }
    }),
    check: "prices",
    says: /demo\/x that has more than 20% of the tokens that it may have costs more at p/u,
    mends: /offer upto before exact/u,
    isAdvice: true
  },
  {
    when: "the brokers of money are missing",
    cluster: without("nats-payments"),
    check: "brokers",
    says: /nats-payments is not installed in starling/u,
    mends: /values-nats-payments\.yaml/u
  },
  {
    when: "servers are not called after their pods",
    cluster: withIts("nats", {
      ...running({
        name: "nats",
        namespace: "starling",
        image: "nats:2.15.1-alpine",
        kind: "StatefulSet",
        replicas: 3,
        env: [{ name: "SERVER_NAME", value: "nats-$(POD_NAME)" }]
      })
    }),
    check: "brokers",
    says: /called nats-\$\(POD_NAME\), not after their pods/u,
    mends: /serverNamePrefix/u
  },
  {
    when: "a broker has one server",
    cluster: withIts("nats", { ...brokerSet("nats"), spec: { ...brokerSet("nats").spec, replicas: 1 } }),
    check: "brokers",
    says: /nats has 1 servers, not 3/u,
    mends: /^helm upgrade/u
  },
  {
    when: "a broker does not know the users",
    cluster: {
      ...healthy,
      configMaps: (healthy.configMaps ?? []).map((map) =>
        map.metadata.name === "nats-config" ? { ...map, data: { "nats.conf": "{}" } } : map
      )
    },
    check: "brokers",
    says: /nats does not know the fleet's users/u,
    mends: /values-nats\.yaml/u
  },
  {
    when: "money is not written before it is confirmed",
    cluster: {
      ...healthy,
      configMaps: (healthy.configMaps ?? []).map((map) =>
        map.metadata.name === "nats-payments-config" ? { ...map, data: { "nats.conf": '"user": "operator"' } } : map
      )
    },
    check: "brokers",
    says: /nats-payments does not write to its disk/u,
    mends: /values-nats-payments\.yaml/u
  },
  {
    when: "no storage class is the default",
    cluster: { ...healthy, storageClasses: [{ metadata: { name: "slow" } }] },
    check: "storage class",
    says: /no default storage class; there are slow/u,
    mends: /^kubectl patch storageclass slow/u
  },
  {
    when: "other pods have taken the processors",
    cluster: {
      ...healthy,
      requested: ["one", "two", "three"].map((node) => ({ namespace: "others", node, cpu: 13, memoryBytes: 2 ** 30 }))
    },
    check: "capacity",
    says: /ask for 12\.3 processors and .*Gi, and 9 and 189Gi are free/u,
    mends: /add nodes/u
  },
  {
    when: "the only node with room is drained",
    cluster: {
      ...healthy,
      nodes: (healthy.nodes ?? []).map((node) => ({ ...node, spec: { unschedulable: true } })).slice(0, 1)
    },
    check: "capacity",
    says: /there is no node that takes pods/u,
    mends: /run 3 nodes/u
  },
  {
    when: "webhooks go to a private network that no policy opens",
    plan: webhooks(["10.8.0.0/16"]),
    cluster: knowing,
    check: "ways out",
    says: /lets webhook-dispatcher reach 10\.8\.0\.0\/16, which WebhookDelivery\.AllowCidrs names/u,
    mends: /^kubectl -n starling apply -f - <<'END'\n\{.*"cidr":"10\.8\.0\.0\/16"/u
  },
  {
    when: "models are sold and callers would be told of 127.0.0.1",
    plan: inside,
    cluster: {
      ...knowing,
      policies: [
        {
          kind: "NetworkPolicy",
          metadata: { name: "in" },
          spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: "10.4.0.0/24" } }] }] }
        }
      ]
    },
    check: "gateway's origin",
    says: /ModelGateway\.Origin is not set/u,
    mends: /"Origin"/u
  },
  {
    when: "the configuration has a fault",
    plan: configured({ Bus: { Url: "nats://nats:4222", Replica: 3 } }),
    check: "configuration",
    says: /Bus\.Replica/u,
    mends: /settings\.md/u
  }
]

describe("the doctor of a cluster", () => {
  it("finds nothing when nothing is missing", () => {
    assert.deepStrictEqual(found(healthy), [])
  })

  it.each(cases)(
    "reports the fault and its remedy when $when",
    ({ cluster = healthy, plan: of = plan, check, says, mends, isAdvice = false }) => {
      const findings = found(cluster, of)
      const told = findings.find((finding) => finding.check === check && says.test(finding.what))

      assert.isDefined(told, JSON.stringify(findings, null, 1))
      assert.match(told?.mend ?? "", mends)
      assert.isNotEmpty(told?.why)
      assert.strictEqual(told?.state, isAdvice ? "advice" : "missing")
      assert.deepStrictEqual([...new Set(findings.map((finding) => finding.check))], [check])
      assert.strictEqual(isIll(findings), !isAdvice)
    }
  )

  it("reports that egress to a provider's private address is closed", () => {
    const [first, ...rest] = found(knowing, inside).filter(({ check }) => check === "ways out")

    assert.match(first?.what ?? "", /model-gateway reach 10\.4\.0\.9\/32, which the provider inside/u)
    assert.deepStrictEqual(rest, [])
  })

  it("finds a Prometheus that selects only its own label", () => {
    const spec = { podMonitorSelector: { matchLabels: { release: "main" } }, ruleSelector: {} }
    const findings = found({
      ...healthy,
      prometheuses: [{ metadata: { name: "main", namespace: "monitoring" }, spec }]
    })

    assert.strictEqual(findings.length, 1)
    assert.match(findings[0]?.what ?? "", /takes no PodMonitor without release=main, and starling has none/u)
  })

  it("reports what it could not check, and does not count it as missing", () => {
    const blind: Cluster = {
      ...healthy,
      secrets: undefined,
      nodes: undefined,
      workloads: undefined,
      prometheuses: undefined
    }
    const findings = diagnose(blind, plan, { nowMs: 0, unread: [{ question: "secrets", reason: "forbidden" }] })

    assert.deepStrictEqual(
      findings.map(({ check, state }) => [check, state]),
      [["access", "unread"]]
    )
    assert.isTrue(isIll(findings))
  })

  it("shows no password", () => {
    const findings = found({
      ...healthy,
      secrets: [secret("starling-bus-passwords", { ...passwords, operator: "9-secret" })]
    })

    assert.notInclude(JSON.stringify(findings), "9-secret")
  })

  it("prints a line for each check, and under a finding its reason and its command", () => {
    const findings = found({ ...healthy, storageClasses: [] })

    assert.deepStrictEqual(report(["version", "storage class"], findings), [
      "✓ version",
      "✗ storage class: the cluster has no default storage class, and no other",
      "    why   the brokers' volumes name none (nats: 3 of 100Gi, nats-payments: 3 of 20Gi): they stay Pending, and the brokers with them",
      "    mend  install a provisioner of volumes"
    ])
  })
})

describe("the resource requests of an overlay", () => {
  it("count two pods of a role, even one with an autoscaler, and the servers of both brokers", () => {
    const counts = new Map(plan.pods.map(({ name, count }) => [name, count]))

    assert.strictEqual(counts.get("model-gateway"), 2)
    assert.strictEqual(counts.get("sweeper"), 2)
    assert.strictEqual(counts.get("nats"), 3)
    assert.strictEqual(counts.get("nats-payments"), 3)
    assert.strictEqual(Math.round(sumOf(plan).memoryBytes / 2 ** 30), 22)
  })

  it("name the users of the pods and the brokers", () => {
    assert.includeMembers(
      [...plan.users],
      ["pipeline-api", "payment-settler", "internal-services", "runners", "operator", "nack", "system"]
    )
    assert.strictEqual(plan.users.length, 15)
  })

  it("are read in Kubernetes' units", () => {
    const read = ["250m", "2", "1.5", "4Gi", "512Mi", "100k", "1e3", undefined, "nonsense"].map(quantity)

    assert.deepStrictEqual(read, [0.25, 2, 1.5, 4 * 2 ** 30, 512 * 2 ** 20, 100_000, 1_000, 0, 0])
  })

  it("name the servers of an address", () => {
    assert.deepStrictEqual(hostsIn("tls://nats.starling.svc:4222, tls://user:p@other:4222,plain"), [
      "nats.starling.svc",
      "other",
      "plain"
    ])
  })
})
