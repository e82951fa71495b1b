/** Certificates for a test, made anew by openssl: an authority, and certificates that it signs. None is kept. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Signed {
  readonly certificate: string
  readonly key: string
}

export interface Authority {
  readonly caFile: string
  /** Paths of a certificate for a host name and of its key; `name` is the files'. */
  readonly sign: (host: string, name?: string) => Signed
  readonly remove: () => void
}

const openssl = (...parameters: ReadonlyArray<string>) =>
  execFileSync("openssl", [...parameters], { stdio: ["ignore", "ignore", "pipe"] })

export const newAuthority = (): Authority => {
  const folder = mkdtempSync(join(tmpdir(), "starling-ca-"))
  const path = (name: string) => join(folder, name)
  const keyOptions = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"]
  const ca = ["-x509", "-days", "2", "-subj", "/CN=an authority for a test"]
  openssl("req", ...ca, ...keyOptions, path("ca.key"), "-out", path("ca.crt"))
  return {
    caFile: path("ca.crt"),
    sign: (host, name = host) => {
      const [certificate, key, request, extensions] = ["crt", "key", "csr", "ext"].map((kind) =>
        path(`${name}.${kind}`)
      )
      openssl("req", "-subj", `/CN=${host}`, ...keyOptions, key ?? "", "-out", request ?? "")
      writeFileSync(extensions ?? "", `subjectAltName=DNS:${host}\n`)
      const by = ["-CA", path("ca.crt"), "-CAkey", path("ca.key"), "-CAcreateserial"]
      openssl(
        "x509",
        "-req",
        "-days",
        "2",
        "-in",
        request ?? "",
        ...by,
        "-extfile",
        extensions ?? "",
        "-out",
        certificate ?? ""
      )
      return { certificate: certificate ?? "", key: key ?? "" }
    },
    remove: () => rmSync(folder, { recursive: true })
  }
}
