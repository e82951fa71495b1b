/** Compares the pods' network policies, both ways, with what the configuration needs. Pure. */
import { BlockList, isIP } from "node:net"
import type { Cluster, Policy } from "../cluster.ts"
import type { Told } from "../finding.ts"
import type { Plan } from "../plan.ts"

type Configured = NonNullable<Plan["configuration"]>

/** Networks and addresses that a role is configured to call, but that no policy allows. */
export const egressCheck = (cluster: Cluster, plan: Plan): ReadonlyArray<Told> => {
  if (plan.configuration === undefined) return []
  return targetsOf(plan.configuration).flatMap(({ role, place, cidr }) => {
    const policies = [...plan.policies, ...(cluster.policies ?? [])].filter((policy) => isFor(policy, role, plan))
    const isHeld = policies.some(({ spec }) => spec.policyTypes?.includes("Egress") === true)
    if (!isHeld || policies.some((policy) => opens(policy, cidr))) return []
    return [
      {
        what: `no network policy lets ${role} reach ${cidr}, which ${place} names`,
        why: "everything private is shut to it by default: calls there time out",
        mend: policyText(role, cidr, plan.namespace)
      }
    ]
  })
}

const policyText = (role: string, cidr: string, namespace: string) =>
  [
    `kubectl -n ${namespace} apply -f - <<'END'`,
    `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"${role}-inside"},"spec":{"podSelector":{"matchLabels":{"app.kubernetes.io/name":"${role}"}},"policyTypes":["Egress"],"egress":[{"to":[{"ipBlock":{"cidr":"${cidr}"}}]}]}}`,
    "END"
  ].join("\n")

interface Target {
  readonly role: string
  readonly place: string
  readonly cidr: string
}

/** Named networks, and addresses within URLs; a host name resolves only inside the cluster. */
const targetsOf = ({ WebhookDelivery, ModelGateway, Payments }: Configured): ReadonlyArray<Target> => [
  ...WebhookDelivery.AllowCidrs.filter((cidr) => isPrivate(cidr)).map((cidr) => ({
    role: "webhook-dispatcher",
    place: "WebhookDelivery.AllowCidrs",
    cidr
  })),
  ...ModelGateway.Providers.flatMap(({ BaseUrl, Name }) =>
    inside("model-gateway", `the provider ${Name} in ModelGateway.Providers`, BaseUrl)
  ),
  ...Payments.Networks.flatMap(({ RpcUrls, Network }) =>
    RpcUrls.flatMap((url) =>
      ["payment-verifier", "payment-settler"].flatMap((role) => inside(role, `${Network} in Payments.Networks`, url))
    )
  ),
  ...Payments.Signers.flatMap(({ Url = "", Name }) =>
    inside("payment-settler", `the signer ${Name} in Payments.Signers`, Url)
  )
]

const inside = (role: string, place: string, url: string): ReadonlyArray<Target> => {
  const host = URL.parse(url)?.hostname.replaceAll(/[[\]]/gu, "") ?? ""
  const family = isIP(host)
  const cidr = `${host}/${family === 6 ? 128 : 32}`
  return family !== 0 && isPrivate(cidr) ? [{ role, place, cidr }] : []
}

/** Addresses that a role's egress policy blocks. */
const shut = (() => {
  const list = new BlockList()
  for (const cidr of [
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16"
  ]) {
    addTo(list, cidr)
  }
  for (const cidr of ["::1/128", "fc00::/7", "fe80::/10"]) addTo(list, cidr)
  return list
})()

function addTo(list: BlockList, cidr: string) {
  const [address = "", bits = ""] = cidr.split("/")
  list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4")
}

const isPrivate = (cidr: string) => {
  const [address = ""] = cidr.split("/")
  return shut.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
}

const isFor = ({ metadata, spec }: Policy, role: string, { namespace }: Plan) => {
  if ((metadata.namespace ?? namespace) !== namespace) return false
  const labels: Readonly<Record<string, string>> = {
    "app.kubernetes.io/name": role,
    "app.kubernetes.io/part-of": "starling"
  }
  return Object.entries(spec.podSelector.matchLabels ?? {}).every(([key, value]) => labels[key] === value)
}

/** Whether a rule's block holds the whole network, and none of its exceptions any of it. */
const opens = ({ spec }: Policy, cidr: string) =>
  (spec.egress ?? []).some(
    ({ to }) =>
      to === undefined ||
      to.some(
        ({ ipBlock }) =>
          ipBlock !== undefined && holds(ipBlock.cidr, cidr) && !(ipBlock.except ?? []).some((each) => meet(each, cidr))
      )
  )

const holds = (outer: string, inner: string) => {
  const [outerAddress = "", outerBits = "0"] = outer.split("/")
  const [innerAddress = "", innerBits = "0"] = inner.split("/")
  if (isIP(outerAddress) !== isIP(innerAddress) || Number(innerBits) < Number(outerBits)) return false
  const list = new BlockList()
  addTo(list, outer)
  return list.check(innerAddress, isIP(innerAddress) === 6 ? "ipv6" : "ipv4")
}

const meet = (left: string, right: string) => holds(left, right) || holds(right, left)

/** The namespace that may call the APIs, as the overlay names it. */
export const callersCheck = ({ namespaces }: Cluster, { policies }: Plan): ReadonlyArray<Told> => {
  if (namespaces === undefined) return []
  const wanted = policies
    .filter(({ metadata }) => metadata.name.endsWith("-callers"))
    .flatMap(({ spec }) => (spec.ingress ?? []).flatMap(({ from = [] }) => from))
    .flatMap(({ namespaceSelector }) => namespaceSelector?.matchLabels?.["kubernetes.io/metadata.name"] ?? [])
  const absent = [...new Set(wanted)].filter((name) => !namespaces.some(({ metadata }) => metadata.name === name))
  return absent.map((name) => ({
    state: "advice" as const,
    what: `callers of the APIs are let in from the namespace ${name}, which there is not`,
    why: "nobody reaches pipeline-api, model-gateway and speech-api from outside",
    mend: "name the namespace of your ingress controller in callers.yaml of your overlay"
  }))
}

/** The address by which callers reach the gateway: quotes and image jobs name it. */
export const originCheck = (_: Cluster, { configuration }: Plan): ReadonlyArray<Told> => {
  if (configuration === undefined) return []
  const { Providers, Models, Origin } = configuration.ModelGateway
  if (Origin !== undefined || (Providers.length === 0 && Models.length === 0)) return []
  return [
    {
      what: "ModelGateway.Origin is not set, and models are configured",
      why: "quotes and image jobs would name http://127.0.0.1:7402, which no caller reaches",
      mend: 'set it to what callers type: "ModelGateway": { "Origin": "https://models.example.com" }'
    }
  ]
}

/** Image names that are still the example's. */
export const imagesCheck = (_: Cluster, { workloads }: Plan): ReadonlyArray<Told> => {
  const images = workloads.flatMap(({ spec }) => spec.template.spec.containers.map(({ image = "" }) => image))
  const examples = [...new Set(images.filter((image) => image.startsWith("registry.example/")))]
  if (examples.length === 0) return []
  return [
    {
      what: `the overlay names ${examples.join(" and ")}, which are an example's`,
      why: "no node can pull them",
      mend: "in your overlay: kustomize edit set image starling-fleet=REGISTRY/starling-fleet:TAG starling-speech=REGISTRY/starling-speech:TAG"
    }
  ]
}
