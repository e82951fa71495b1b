/** A certificate that began long ago and ends in three days. */
import { execFile } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

const openssl = async (...parameters: ReadonlyArray<string>) => promisify(execFile)("openssl", [...parameters])

const dayMs = 86_400_000
const timeIn = (days: number) =>
  new Date(Date.now() + days * dayMs).toISOString().replaceAll(/\D/gu, "").slice(0, 14) + "Z"

/** Below the folder. */
export const certificateEnding = async (folder: string) => {
  const own = mkdtempSync(join(folder, "certificate-"))
  const path = (name: string) => join(own, name)
  const kept = ["database = index", "serial = serial", "new_certs_dir = .", "default_md = sha256", "policy = names"]
  const settings = ["[ca]", "default_ca = own", "[own]", ...kept, "[names]", "commonName = supplied", ""]
  writeFileSync(path("settings"), settings.join("\n").replaceAll(/= (index|serial|\.)$/gmu, `= ${own}/$1`))
  writeFileSync(path("index"), "")
  writeFileSync(path("serial"), "01\n")
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=faults"]
  await openssl("req", "-new", ...kind, "-keyout", path("key"), "-out", path("request"))
  const times = ["-startdate", timeIn(-300), "-enddate", timeIn(3)]
  const files = ["-keyfile", path("key"), "-in", path("request"), "-out", path("certificate")]
  await openssl("ca", "-batch", "-selfsign", "-notext", "-config", path("settings"), ...times, ...files)
  return { certificate: path("certificate"), key: path("key") }
}
