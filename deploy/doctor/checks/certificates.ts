/**
 * Compares the brokers' certificate, and the authority that the roles trust, with `Bus.Url`. Pure but for its clock.
 */
import { X509Certificate } from "node:crypto"
import { Result } from "effect"
import { type Cluster, secretText } from "../cluster.ts"
import type { Told } from "../finding.ts"
import type { Plan } from "../plan.ts"

const certificateSecret = "nats-tls"
const authorityMap = "starling-bus-ca"

/** Enough time to renew, with working days in between. */
const renewWithinMs = 14 * 86_400_000

export const certificatesCheck = (cluster: Cluster, plan: Plan, nowMs: number): ReadonlyArray<Told> => {
  const bus = plan.configuration?.Bus
  const isEncrypted = bus !== undefined && (bus.Url.includes("tls://") || bus.TlsCaFile !== undefined)
  if (!isEncrypted || cluster.secrets === undefined || plan.brokers.length === 0) return []
  const names = hostsIn(bus.Url)
  const authority = authorityOf(cluster, plan, bus.TlsCaFile)
  const shown = secretText(cluster, certificateSecret, "tls.crt")
  if (shown === undefined || secretText(cluster, certificateSecret, "tls.key") === undefined) {
    return [
      ...authority.told,
      {
        what: `there is no secret ${certificateSecret} with tls.crt and tls.key`,
        why: "the brokers speak TLS alone, and do not start without a certificate",
        mend: `docs/install-kubernetes.md, "Certificates", makes one for ${names.join(", ")}:\nkubectl -n ${plan.namespace} create secret tls ${certificateSecret} --cert=nats.crt --key=nats.key`
      }
    ]
  }
  const read = readCertificates(shown)
  const [certificate] = read
  if (certificate === undefined) return [...authority.told, unreadable(`the secret ${certificateSecret}, key tls.crt,`)]
  return [
    ...authority.told,
    ...names.filter((name) => certificate.checkHost(name) === undefined).map((name) => notFor(name, certificate)),
    ...validity(certificate, `the brokers' certificate (${certificateSecret})`, nowMs),
    ...signed(read, authority.certificates)
  ]
}

/** Server names, without scheme, user and port. */
export const hostsIn = (url: string): ReadonlyArray<string> =>
  url.split(",").flatMap((server) => /^(?:[a-z]+:\/\/)?(?:[^@/]*@)?([^:/[\]]+)/iu.exec(server.trim())?.[1] ?? [])

const authorityOf = ({ configMaps }: Cluster, { namespace }: Plan, file: string | undefined) => {
  const none = { certificates: [] as ReadonlyArray<X509Certificate>, told: [] as ReadonlyArray<Told> }
  // Without a file of its own a role trusts the authorities that Node knows.
  if (file === undefined || configMaps === undefined) return none
  const text = configMaps.find(({ metadata }) => metadata.name === authorityMap)?.data?.["ca.crt"]
  if (text === undefined || text.trim() === "") {
    const told = {
      what: `the ConfigMap ${authorityMap} has no ca.crt`,
      why: "a role believes no broker without it, and waits",
      mend: `kubectl -n ${namespace} create configmap ${authorityMap} --from-file=ca.crt`
    }
    return { ...none, told: [told] }
  }
  const certificates = readCertificates(text)
  return certificates.length > 0
    ? { certificates, told: [] }
    : { ...none, told: [unreadable(`${authorityMap}, key ca.crt,`)] }
}

const begin = "-----BEGIN CERTIFICATE-----"
const end = "-----END CERTIFICATE-----"

const readCertificates = (text: string): ReadonlyArray<X509Certificate> =>
  text
    .split(begin)
    .slice(1)
    .flatMap((rest) =>
      Result.match(
        Result.try(() => new X509Certificate(begin + rest.split(end, 1).join() + end)),
        { onFailure: () => [], onSuccess: (certificate) => [certificate] }
      )
    )

const unreadable = (where: string): Told => ({
  what: `${where} holds no certificate that can be read`,
  why: "nobody can be believed by it",
  mend: "openssl x509 -noout -text -in FILE says what is wrong with it; put the right one in its place"
})

const notFor = (name: string, certificate: X509Certificate): Told => ({
  what: `the brokers' certificate is not for ${name}, which Bus.Url names, but for ${certificate.subjectAltName ?? certificate.subject}`,
  why: "a role gives its password to nobody whose certificate is for another name, and waits",
  mend: `make the certificate anew with subjectAltName=DNS:${name} (docs/install-kubernetes.md, "Certificates")`
})

const validity = (certificate: X509Certificate, whose: string, nowMs: number): ReadonlyArray<Told> => {
  const endMs = Date.parse(certificate.validTo)
  if (Date.parse(certificate.validFrom) > nowMs) {
    return [
      {
        what: `${whose} is not valid before ${certificate.validFrom}`,
        why: "until then no role connects",
        mend: "date -u on who signed it"
      }
    ]
  }
  if (endMs > nowMs + renewWithinMs) return []
  return [
    {
      ...(endMs > nowMs ? { state: "advice" as const } : {}),
      what: `${whose} ${endMs > nowMs ? "ends" : "has ended"} on ${certificate.validTo}`,
      why: "from then on no role connects",
      mend: 'renew it: docs/operations.md, "Encryption"'
    }
  ]
}

/** One certificate of the broker's chain must be signed by an authority that the roles trust. */
const signed = (
  chain: ReadonlyArray<X509Certificate>,
  believed: ReadonlyArray<X509Certificate>
): ReadonlyArray<Told> => {
  if (believed.length === 0) return []
  const isSigned = chain.some((each) =>
    believed.some((authority) => each.checkIssued(authority) && each.verify(authority.publicKey))
  )
  if (isSigned) return []
  return [
    {
      what: `the brokers' certificate is not signed by what ${authorityMap} holds, but by ${chain.at(-1)?.issuer.replaceAll("\n", ", ")}`,
      why: "a role believes that authority alone, and waits",
      mend: `put the authority that signed it into ca.crt of ${authorityMap}; beside the old one while both are used`
    }
  ]
}
