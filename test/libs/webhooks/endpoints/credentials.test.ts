import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { endpointIdOf } from "#webhooks/contract"
import { credentialFaults, isUnencrypted, openCredentials, type OwnCredentials, secretSeal } from "#webhooks"
import { decideCreation, decideRemoval, decideRotation, resealed } from "../../../../libs/webhooks/endpoints/changes.ts"
import { certificateFacts } from "../../../../libs/webhooks/endpoints/credentials.ts"
import { newAuthority, type Signed } from "../../../support/certificates.ts"

const authority = newAuthority()
afterAll(authority.remove)
const read = ({ certificate, key }: Signed) => ({
  tlsCertificate: readFileSync(certificate, "utf8"),
  tlsKey: readFileSync(key, "utf8")
})
const ours = read(authority.sign("us.example"))
const others = read(authority.sign("others.example"))
const tlsCa = readFileSync(authority.caFile, "utf8")
const nowMs = Date.now()
const dayMs = 86_400_000
const withPassword = execFileSync("openssl", ["ec", "-aes256", "-passout", "pass:x"], { input: ours.tlsKey }).toString()
const small = execFileSync(
  "openssl",
  ["req", "-x509", "-newkey", "rsa:512", "-nodes", "-subj", "/CN=small", "-keyout", "-", "-out", "-"],
  { stdio: ["ignore", "pipe", "ignore"] }
).toString()
const parts = (pem: string) => ({
  tlsKey: /-----BEGIN PRIVATE KEY[^]*END PRIVATE KEY-----/u.exec(pem)?.[0] ?? "",
  tlsCertificate: /-----BEGIN CERTIFICATE[^]*END CERTIFICATE-----/u.exec(pem)?.[0] ?? ""
})

describe("the credentials of an endpoint", () => {
  it.each<readonly [string, OwnCredentials, ReadonlyArray<string>]>([
    ["a certificate with its key and an authority", { ...ours, tlsCa }, []],
    [
      "a chain, with text between its certificates",
      { ...ours, tlsCertificate: `us:\n${ours.tlsCertificate}\nCA:\n${tlsCa}` },
      []
    ],
    ["an authority alone", { tlsCa }, []],
    ["a certificate without its key", { tlsCertificate: ours.tlsCertificate }, ["tlsKey"]],
    ["a key without its certificate", { tlsKey: ours.tlsKey }, ["tlsCertificate"]],
    ["another's key", { ...ours, tlsKey: others.tlsKey }, ["tlsKey"]],
    ["a key with a password", { ...ours, tlsKey: withPassword }, ["tlsKey"]],
    ["a certificate in place of the key", { ...ours, tlsKey: ours.tlsCertificate }, ["tlsKey"]],
    ["a key in place of the certificate", { ...ours, tlsCertificate: ours.tlsKey }, ["tlsCertificate"]],
    ["a key beside the authorities", { tlsCa: `${tlsCa}${ours.tlsKey}` }, ["tlsCa"]],
    ["no PEM", { ...ours, tlsCa: "MIIB" }, ["tlsCa"]],
    ["a certificate cut short", { tlsCa: tlsCa.slice(0, 200) }, ["tlsCa"]],
    [
      "a certificate of other bytes",
      { tlsCa: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----" },
      ["tlsCa"]
    ],
    ["a key that is too short for TLS", parts(small), ["tlsCertificate"]],
    ["nothing", {}, []]
  ])("%s", (_what, credentials, paths) => {
    const faults = credentialFaults(credentials, nowMs)
    assert.deepStrictEqual(
      faults.map(({ path }) => path),
      paths
    )
    for (const value of Object.values(credentials))
      assert.notInclude(JSON.stringify(faults), value.slice(-60, -30) || value)
  })

  it("are refused once they have ended, but only when they are given", () => {
    const [fault] = credentialFaults(ours, nowMs + 3 * dayMs)
    assert.match(fault?.message ?? "", /of CN=us.example ended at 2/u)
    assert.deepStrictEqual(credentialFaults(ours), [])
  })

  it("are shown by who they are of", () => {
    const [shown, ca] = certificateFacts({ ...ours, tlsCa })
    assert.deepInclude(shown, {
      credential: "tlsCertificate",
      subject: "CN=us.example",
      issuer: "CN=an authority for a test"
    })
    assert.closeTo(Date.parse(shown?.endsAt ?? ""), nowMs + 2 * dayMs, 60_000)
    assert.deepInclude(ca, { credential: "tlsCa", subject: "CN=an authority for a test" })
  })
})

const seal = secretSeal("a key of this test")
const act = { at: new Date(nowMs).toISOString(), by: "tester" }
const settings = { Name: "a", Url: "https://receiver.example/hook" }
const made = (credentials: object = ours) =>
  Result.getOrThrow(decideCreation(undefined, { settings, credentials }, { seal, act, startsAfter: 7 })).record

describe("a record with credentials", () => {
  it("holds them sealed, bound to its endpoint", () => {
    const record = made()
    assert.notInclude(JSON.stringify(record), "PRIVATE")
    assert.deepStrictEqual(Result.getOrThrow(openCredentials(record, seal)), ours)
    assert.isTrue(Result.isFailure(openCredentials({ ...record, name: "another" }, seal)))
    assert.notStrictEqual(endpointIdOf("another"), endpointIdOf("a"))
  })

  it("is made once when it is asked for twice, and is a conflict with others", () => {
    const before = made()
    const again = (credentials: object) =>
      decideCreation(before, { settings, credentials }, { seal, act, startsAfter: 7 })
    assert.isTrue(Result.getOrThrow(again(ours)).same)
    assert.isTrue(Result.isFailure(again(others)))
    assert.isTrue(Result.isFailure(again({})))
  })

  it("has none where none were given", () => {
    assert.notProperty(made({}), "credentials")
  })

  it.each<readonly [string, object, object | ReadonlyArray<string>]>([
    ["both replaced", others, others],
    ["one added", { tlsCa }, { ...ours, tlsCa }],
    ["all removed", { tlsCertificate: null, tlsKey: null }, {}],
    ["a half replaced", { tlsKey: others.tlsKey }, ["/Credentials/tlsKey"]],
    ["a half removed", { tlsKey: null }, ["/Credentials/tlsKey"]]
  ])("rotates, %s", (_what, credentials, expected) => {
    const decided = decideRotation(made(), { credentials, overlapMs: 0 }, { revision: 1, seal, act, nowMs })
    if (Result.isFailure(decided)) {
      const paths = "faults" in decided.failure ? decided.failure.faults.map(({ path }) => path) : []
      return assert.deepStrictEqual(paths, expected as ReadonlyArray<string>)
    }
    assert.deepStrictEqual(Result.getOrThrow(openCredentials(decided.success.record, seal)), expected as OwnCredentials)
    const again = decideRotation(
      decided.success.record,
      { credentials, overlapMs: 0 },
      { revision: 1, seal, act, nowMs }
    )
    assert.isTrue(Result.getOrThrow(again).same)
  })

  it("loses them with its endpoint", () => {
    const { record } = Result.getOrThrow(decideRemoval(made(), { revision: 1, act }))
    assert.isNull(record.credentials)
  })
})

describe("a change of the sealing key", () => {
  const next = secretSeal("the next key of this test", "a key of this test")

  it("seals all of a record anew, once, and the previous key opens it meanwhile", () => {
    const before = {
      ...made(),
      headers: seal.seal(endpointIdOf("a"), "{}"),
      secrets: [{ sealed: seal.seal(endpointIdOf("a"), "signs"), notAfterMs: null }]
    }
    assert.deepStrictEqual(Result.getOrThrow(openCredentials(before, next)), ours)
    const after = Result.getOrThrow(resealed(before, next))
    assert.isDefined(after)
    if (after === undefined) return
    assert.strictEqual(after.revision, before.revision)
    const only = secretSeal("the next key of this test")
    assert.deepStrictEqual(Result.getOrThrow(openCredentials(after, only)), ours)
    assert.strictEqual(Result.getOrThrow(only.open(endpointIdOf("a"), after.secrets[0]?.sealed ?? "")), "signs")
    assert.isTrue(Result.isFailure(openCredentials(after, seal)))
    assert.isUndefined(Result.getOrThrow(resealed(after, next)))
  })

  it("leaves a record alone that none of the keys opens", () => {
    assert.isTrue(Result.isFailure(resealed(made(), secretSeal("another key of this test"))))
  })

  it("encrypts what was only encoded", () => {
    const plain = { ...made({}), headers: secretSeal(undefined).seal(endpointIdOf("a"), "{}") }
    assert.isTrue(isUnencrypted(plain))
    const after = Result.getOrThrow(resealed(plain, seal))
    assert.isFalse(after === undefined || isUnencrypted(after))
  })
})
